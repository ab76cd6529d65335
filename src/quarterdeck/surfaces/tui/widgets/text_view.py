"""A scrolling widget for styled lines. It folds and draws rows, and never reads markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, fold, plain
from quarterdeck.surfaces.tui.widgets.themes import style_of


class TextView(ScrollView, can_focus=True):
    """Shows lines, folded at its width, or rows that were folded elsewhere; greyed if wanted."""

    DEFAULT_CSS = "TextView { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[StyledLine] = []
        self._rows: list[Row] = []
        self._width = 0
        self._grey = False
        self._place: float | None = None
        self._base = Style.null()

    @property
    def rows(self) -> list[Row]:
        return self._rows

    @property
    def text(self) -> str:
        """All rows, as plain text."""
        return plain(self._rows)

    def show(self, lines: Iterable[StyledLine], grey: bool = False) -> None:
        """Replace the lines and keep the scroll position. The same lines again are not redrawn."""
        shown, room = list(lines), self._row_width
        if (shown, grey, room) != (self._lines, self._grey, self._width) or not shown:
            self._lines, self._grey = shown, grey
            self._fold(room)

    @property
    def _row_width(self) -> int:
        """The width of a row in cells, without the scrollbar."""
        return self.scrollable_content_region.width

    def watch_show_vertical_scrollbar(self) -> None:
        self.call_after_refresh(self._fold_again)

    def keep_place(self) -> None:
        """Remember the place before the rows go until they are folded for another width: the few rows shown meanwhile
        would scroll to the top."""
        if self._place is None:
            self._place = self.scroll_y / max(1, len(self._rows))

    def leave_place(self) -> None:
        """Scroll to the top, and stay there."""
        self._place = None
        self.scroll_home(animate=False)

    def _return_to_place(self, rows: list[Row]) -> None:
        if self._place is not None and len(rows) > self.size.height:
            place, self._place = self._place, None
            self.call_after_refresh(self.scroll_to, y=round(place * len(rows)), animate=False)

    def show_rows(self, rows: list[Row], grey: bool = False) -> None:
        """Show rows that were folded elsewhere. Only changed rows are redrawn."""
        self._return_to_place(rows)
        width, before = self.content_size.width, self._rows
        is_same_shape = not self._lines and (grey, width, len(rows)) == (self._grey, self._width, len(before))
        self._lines, self._rows, self._grey, self._width = [], rows, grey, width
        if is_same_shape:
            for number, (old, new) in enumerate(zip(before, rows, strict=True)):
                if old != new:
                    self.refresh_line(number)
        else:
            self.virtual_size = Size(width, len(rows))
            self.refresh()

    def show_tail(self, start: int, tail: list[Row], grey: bool = False) -> None:
        """Replace the rows from `start` on. The time it takes does not depend on the number of rows before it."""
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
        self._fold_again()

    def _fold_again(self) -> None:
        if self._lines and self._row_width != self._width:
            self._fold(self._row_width)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def row_style(self, number: int) -> Style | None:
        """The style over a whole row; None by default."""
        return None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render rows. The base style is looked up once for all rows of a frame, since that is slow."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if number >= len(self._rows):
            return Strip.blank(width, self._base)
        return self.draw(self._rows[number], width, self.row_style(number))

    def draw(self, row: Row, width: int, over: Style | None = None) -> Strip:
        """Draw a row in the colours of the theme."""
        theme = self.app.theme
        segments = []
        for span in row:
            style = style_of(theme, "dim" if self._grey else span.style)
            if span.click:
                style += Style.from_meta({"@click": span.click})
            segments.append(Segment(span.text, style))
        strip = Strip(segments).adjust_cell_length(width, Style.null())
        return strip.apply_style(self._base + over if over else self._base)
