"""A page that is a table: rows by key, each cell harmless text."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import DataTable

from quarterdeck.core.text import one_line
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.themes import style_of
from quarterdeck.surfaces.tui.wall import Wall

Cell = str | tuple[str, str]
Rows = Iterable[tuple[str, tuple[Cell, ...]]]


class TablePage(PageScreen):
    """`columns` are the headings; what is chosen with Enter is told to `chosen`."""

    columns: tuple[str, ...] = ()
    empty = "Nothing here yet."

    def inside(self) -> ComposeResult:
        table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=False, id="table")
        table.add_columns(*(Text(name) for name in self.columns))
        yield table
        yield Wall(classes="detail", id="detail")

    @property
    def table(self) -> DataTable[Text]:
        return self.query_one("#table", DataTable)

    @property
    def detail(self) -> Wall:
        return self.query_one("#detail", Wall)

    def on_mount(self) -> None:
        self.detail.display = False
        self.table.focus()
        self.action_reload()

    def fill(self, rows: Rows) -> None:
        """Other rows; the cursor stays where it is."""
        place = self.table.cursor_row
        self.table.clear()
        for key, cells in rows:
            self.table.add_row(*(self._cell(cell) for cell in cells), key=key)
        self.table.move_cursor(row=min(place, max(0, self.table.row_count - 1)))
        self.name_it(f"{self.table.row_count}" if self.table.row_count else self.empty)

    def _cell(self, cell: Cell) -> Text:
        text, style = cell if isinstance(cell, tuple) else (cell, "")
        return Text(one_line(text), style=style_of(self.app.theme, style))

    @property
    def pointed(self) -> str | None:
        """The key of the row under the cursor."""
        if not self.table.row_count:
            return None
        found = self.table.coordinate_to_cell_key(self.table.cursor_coordinate).row_key.value
        return str(found)
