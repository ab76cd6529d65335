"""A view of items of one or more rows each, one of them under the cursor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.styled_text import Row
from quarterdeck.surfaces.tui.widgets.text_view import TextView
from quarterdeck.surfaces.tui.widgets.themes import CURSORS

MOVE_KEYS: list[BindingType] = [
    Binding("up,k", "move(-1)", "up", show=False),
    Binding("down,j", "move(1)", "down", show=False),
]


class ItemView(TextView):
    """Knows which rows belong to which item. `action_move` is left to each view."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0
        self._starts: list[int] = []

    def show_items(self, items: Iterable[Iterable[Row]]) -> None:
        """Show items, each with its rows."""
        rows: list[Row] = []
        self._starts = []
        for item in items:
            self._starts.append(len(rows))
            rows += item
        self.show_rows(rows)

    def rows_of(self, place: int) -> range:
        """The numbers of the rows of an item."""
        return range(self._starts[place], [*self._starts[1:], len(self.rows)][place])

    def item_at(self, row: int) -> int:
        """The item of a row; rows below the last one belong to it."""
        return max(bisect_right(self._starts, row) - 1, 0)

    def clicked_item(self, event: events.Click) -> int | None:
        """The item under the mouse."""
        offset = event.get_content_offset(self)
        return None if offset is None else self.item_at(offset.y + self.scroll_offset.y)

    @property
    def cursor_style(self) -> Style:
        """The background of the rows under the cursor."""
        return Style(bgcolor=CURSORS.get(self.app.theme, CURSORS["dark"]))

    def row_style(self, number: int) -> Style | None:
        return self.cursor_style if self._starts and number in self.rows_of(self.cursor) else None
