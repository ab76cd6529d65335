"""A page that is a table, with room for details below it."""

from __future__ import annotations

from textual.app import ComposeResult

from quarterdeck.surfaces.tui.grid import Grid, Rows
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.wall import Wall


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

    def fill(self, rows: Rows) -> None:
        """Other rows."""
        self.table.fill(rows)
        self.name_it(f"{self.table.count}" if self.table.count else self.empty)
