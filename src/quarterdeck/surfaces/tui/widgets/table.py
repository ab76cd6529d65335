"""A table of harmless text with a cursor. Each column is as wide as it needs to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.terminal.styled_text import Cell, Row, TableRows, TextSpan, row_text
from quarterdeck.surfaces.tui.widgets.item_view import MOVE_KEYS, ItemView

WIDE, WIDEST = 36, 300
"""The most characters of a cell, and of one in the last column."""


def table_rows(columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> Iterator[Row]:
    """The heading and the rows, each column as wide as its widest cell."""
    cells = [tuple(TextSpan(name, "dim") for name in columns), *(tuple(_spans(row)) for row in rows)]
    widths = [max(cell_len(row[place].text) for row in cells) for place in range(len(columns))]
    for row in cells:
        sized = zip(row, widths, strict=True)
        yield (TextSpan(" "), *(TextSpan(set_cell_size(cell.text, width) + "  ", cell.style) for cell, width in sized))


def _spans(row: tuple[Cell, ...]) -> Iterator[TextSpan]:
    for place, cell in enumerate(row):
        text, style = cell if isinstance(cell, tuple) else (cell, "")
        yield TextSpan(cut(one_line(text[: WIDEST * 2]), WIDEST if place == len(row) - 1 else WIDE), style)


class Table(ItemView):
    """Rows by key; Enter or a click chooses one."""

    @dataclass
    class Chosen(Message):
        """A row was chosen."""

        key: str

    BINDINGS = [
        *MOVE_KEYS,
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "move(-1000000)", "first", show=False),
        Binding("end", "move(1000000)", "last", show=False),
        Binding("enter", "choose", "open"),
    ]

    def __init__(self, columns: tuple[str, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._keys: list[str] = []

    @property
    def highlighted_key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._keys[self.cursor] if self._keys else None

    @property
    def count(self) -> int:
        return len(self._keys)

    def fill(self, rows: TableRows) -> None:
        """Replace the rows. The cursor stays on its row, or near it."""
        highlighted = self.highlighted_key
        filled = list(rows)
        self._keys = [key for key, _ in filled]
        place = self._keys.index(highlighted) if highlighted in self._keys else self.cursor
        self.cursor = min(place, max(0, len(filled) - 1))
        self.show_rows(list(table_rows(self._columns, [cells for _, cells in filled])))
        self.refresh()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._keys) if action == "choose" else True

    def row_style(self, number: int) -> Style | None:
        return self.cursor_style if number == self.cursor + 1 and self._keys else None

    def draw(self, row: Row, width: int, over: Style | None = None) -> Strip:
        """Draw a row; one that is wider than the table ends with …"""
        text = row_text(row)
        if cell_len(text.rstrip()) <= width:
            return super().draw(row, width, over)
        cut = super().draw(row, cell_len(text), over).crop(0, width - 1)
        return Strip([*cut, Segment("…", cut._segments[-1].style)], width)

    def action_move(self, step: int) -> None:
        self.cursor = min(max(0, self.cursor + step), max(0, len(self._keys) - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        row = self.cursor + 1
        self.scroll_to(y=min(top, row - 1) if row <= top else max(top, row - height + 1), animate=False)
        self.refresh()
        self.refresh_bindings()

    def action_page(self, step: int) -> None:
        self.action_move(step * max(1, self.size.height - 2))

    def action_choose(self) -> None:
        if self.highlighted_key is not None:
            self.post_message(self.Chosen(self.highlighted_key))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y - 1
        if 0 <= row < len(self._keys):
            self.cursor = row
            self.refresh()
            self.refresh_bindings()
            self.action_choose()
