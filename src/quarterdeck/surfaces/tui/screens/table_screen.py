"""A page that is a table, with room for details below it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult

from quarterdeck.surfaces.terminal.styled_text import Line, fold
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.table import Grid, Rows
from quarterdeck.surfaces.tui.widgets.text_view import Wall

FRAME = 4
"""Cells of a row that the frame of the details takes."""


class TablePage(PageScreen):
    """`columns` are the headings; `empty` is said where there are no rows."""

    columns: tuple[str, ...] = ()
    empty = "Nothing here yet."

    def inside(self) -> ComposeResult:
        yield Grid(self.columns, id="table")
        yield Wall(classes="detail", id="detail")

    @property
    def table(self) -> Grid:
        return self.query_one(Grid)

    @property
    def detail(self) -> Wall:
        return self.query_one("#detail", Wall)

    def on_mount(self) -> None:
        self.detail.display = False
        self.table.focus()
        self.action_reload()

    def tell_below(self, lines: Iterable[Line]) -> None:
        """Details below the table, in as much room as they take, up to half of the page; none for nothing."""
        if not self.query(Wall):  # it may be gone when this comes late
            return
        shown = list(lines)
        self.detail.display = bool(shown)
        rows = len(list(fold(shown, max(self.size.width - FRAME, 1))))
        self.detail.styles.height = min(rows + 2, max(5, self.size.height // 2))
        self.call_after_refresh(self.detail.show, shown)
        self.refresh_bindings()

    def fill(self, rows: Rows) -> None:
        """Other rows."""
        if not self.query(Grid):  # it may be gone when this comes late
            return
        self.table.fill(rows)
        self.name_it(f"{self.table.count}" if self.table.count else self.empty)
