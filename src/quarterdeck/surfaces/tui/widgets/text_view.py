"""A wall of styled lines: a scrolling widget that folds and draws only rows, never markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from quarterdeck.surfaces.terminal.styled_text import Line, Row, fold, plain
from quarterdeck.surfaces.tui.widgets.themes import CURSORS, style_of


class Wall(ScrollView, can_focus=True):
    """Shows lines, folded at its width. A row may be drawn greyed, and one may be the chosen one."""

    DEFAULT_CSS = "Wall { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = []
        self._rows: list[Row] = []
        self._width = 0
        self._grey = False
        self._base = Style.null()

    @property
    def rows(self) -> list[Row]:
        return self._rows

    @property
    def text(self) -> str:
        """Everything on the wall, as plain text."""
        return plain(self._rows)

    def show(self, lines: Iterable[Line], grey: bool = False) -> None:
        """Other lines; the place of reading stays. The same ones again are not drawn anew."""
        shown, room = list(lines), self._room
        if (shown, grey, room) != (self._lines, self._grey, self._width) or not shown:
            self._lines, self._grey = shown, grey
            self._fold(room)

    @property
    def _room(self) -> int:
        """Cells of a row, beside the bar when there is one."""
        return self.scrollable_content_region.width

    def watch_show_vertical_scrollbar(self) -> None:
        self.call_after_refresh(self._refit)

    def show_rows(self, rows: list[Row], grey: bool = False) -> None:
        """Rows that were folded elsewhere. Only those that have changed are drawn anew."""
        width, before = self.content_size.width, self._rows
        alike = not self._lines and (grey, width, len(rows)) == (self._grey, self._width, len(before))
        self._lines, self._rows, self._grey, self._width = [], rows, grey, width
        if alike:
            for number, (old, new) in enumerate(zip(before, rows, strict=True)):
                if old != new:
                    self.refresh_line(number)
        else:
            self.virtual_size = Size(width, len(rows))
            self.refresh()

    def show_tail(self, start: int, tail: list[Row], grey: bool = False) -> None:
        """Other rows after so many that stay as they are, however many these are."""
        before = self._rows[start:]
        self._rows[start:] = tail
        if (grey, len(before)) != (self._grey, len(tail)):
            self._grey = grey
            self.virtual_size = Size(self._width, len(self._rows))
            self.refresh()
            return
        for number, (old, new) in enumerate(zip(before, tail, strict=True), start):
            if old != new:
                self.refresh_line(number)

    def _fold(self, width: int) -> None:
        self._width = width
        self._rows = list(fold(self._lines, width)) if width > 0 else []
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self._refit()

    def _refit(self) -> None:
        if self._lines and self._room != self._width:
            self._fold(self._room)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def row_style(self, number: int) -> Style | None:
        """A style over a whole row."""
        return None

    def render_lines(self, crop: Region) -> list[Strip]:
        """What every row of a frame shares is looked up once."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if number >= len(self._rows):
            return Strip.blank(width, self._base)
        return self.draw(self._rows[number], width, self.row_style(number))

    def draw(self, row: Row, width: int, over: Style | None = None) -> Strip:
        """A row in the colours of the theme."""
        theme = self.app.theme
        segments = []
        for span in row:
            style = style_of(theme, "dim" if self._grey else span.style)
            if span.click:
                style += Style.from_meta({"@click": span.click})
            segments.append(Segment(span.text, style))
        strip = Strip(segments).adjust_cell_length(width, Style.null())
        return strip.apply_style(self._base + over if over else self._base)


def cursor_colour(widget: Widget) -> str:
    """What lies behind the row that has the cursor."""
    return CURSORS.get(widget.app.theme, CURSORS["dark"])
