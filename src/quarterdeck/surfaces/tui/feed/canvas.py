"""Draws the visible rows of the feed as strips, and keeps the scroll position while rows change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec import Struct
from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from quarterdeck.core.text.sanitize import visible
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, cells
from quarterdeck.surfaces.tui.feed.render.cut_text import fitted, highlighted, plain, wrapped
from quarterdeck.surfaces.tui.feed.rows.row_lines import RowLayout, row_lines
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from quarterdeck.surfaces.tui.feed.styles import Styles

SLICE_SECONDS = 0.01
"""Seconds that one piece of work may block the screen and the keys."""

PAUSE_SECONDS = 0.001
"""Seconds for other tasks between two pieces of work."""

NO_FRAME = Spacing()
MIN_WIDTH = 20
MAX_STRIPS = 2000
BLANK_LINES = 3


def clock(at: float) -> str:
    """The local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(at))


class OpenedEvent(Struct):
    """An event opened in place. `raw`: as JSON. `step`: how much of it is shown. `lines`: None until they are made."""

    raw: bool = False
    step: int = 0
    lines: list[Row] | None = None


class FeedCanvas(ScrollView):
    """Draws the visible part of its rows. The rows on screen stay in place while others change around them."""

    @dataclass
    class Behind(Message, namespace="feed_view"):
        """The number of new events below the screen; 0 when the end is followed again."""

        count: int

    def __init__(
        self,
        *,
        label: Callable[[str], str] | None = None,
        cwd: Callable[[str], str] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.rows = FeedRows()
        self.cursor: int | None = None
        self.following = True
        self.behind = 0
        self.term = ""
        self.session_id: str | None = None
        self._label = label or (lambda session_id: session_id[:8])
        self._cwd = cwd
        self._layout = RowLayout(width=80, clock=clock, label=self._label, cwd=cwd)
        self._opened: dict[int, OpenedEvent] = {}
        self._settling = False
        self._strips: dict[tuple[int, int, bool, bool], Strip] = {}
        self._styles = Styles(self)

    @contextmanager
    def _keep_place(self) -> Iterator[None]:
        """Keep the rows on screen in place while rows change above them."""
        top = None if self.following else self.rows.window.at_line(int(self.scroll_y))
        yield
        self._strips.clear()
        self._update_size()
        if self.following:
            self._scroll_to_line(self.rows.height)
        elif top is not None:
            seq_no, line = top
            last = max(self.rows.window.height_of(seq_no) - 1, 0)
            self._scroll_to_line(self.rows.window.line_of(seq_no) + min(line, last))

    def _update_size(self) -> None:
        size = Size(self.size.width, self.rows.height)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def _to_end(self) -> None:
        self.following = True
        self._scroll_to_line(self.rows.height)
        if self.rows.last:
            self.cursor = None
        self._set_behind(0)

    def _scroll_to_line(self, line: float) -> None:
        self.scroll_to(y=max(0, min(line, self.max_scroll_y)), animate=False, force=True)

    def _set_behind(self, count: int) -> None:
        if count != self.behind:
            self.behind = count
            self.post_message(self.Behind(count))
            self.refresh()

    def _make_layout(self) -> RowLayout:
        width = max(self.size.width - 1, MIN_WIDTH)
        return RowLayout(width=width, clock=clock, label=None if self.session_id else self._label, cwd=self._cwd)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """Adapt the rows to the current size."""
        layout = self._make_layout()
        if layout == self._layout and self.rows.width == layout.room:
            self._update_size()
            if self.following:
                self._scroll_to_line(self.rows.height)  # with less room the end would be below it
            return
        with self._keep_place():
            self._layout = layout
            self._strips.clear()
            self.rows.reshape(width=layout.room)
        self._refill_opened()
        self._start_settling()

    def _run_soon(self, piece: Callable[[], object]) -> None:
        """Run the next piece of work after other tasks had their turn. Not with a timer of Textual: one that is already
        due when it first checks the clock, as on a busy machine, never fires."""
        asyncio.get_running_loop().call_later(PAUSE_SECONDS, self.call_later, piece)

    def _start_settling(self) -> None:
        self._strips.clear()
        if not self._settling:
            self._settling = True
            self.call_later(self._settle)

    def _settle(self) -> None:
        started = time.perf_counter()
        with self._keep_place():
            left = self.rows.window.settle(4)
            while left and time.perf_counter() - started < SLICE_SECONDS:
                left = self.rows.window.settle(4)
        if left:
            self._run_soon(self._settle)
        else:
            self._settling = False
            self._heights_settled()

    def _refill_opened(self) -> None:
        """Make the lines of opened events again, after the width has changed."""

    def _heights_settled(self) -> None:
        """Called when every row has its new height."""

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.forget()
        self._strips.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Make the strips directly, without Textual's work for each line of a widget, which would take most of the time
        of a frame. Only the border is Textual's, and one line of it is used for all."""
        gutter, size, thumb = self.styles.gutter, self.size, self._thumb()
        if self.opacity != 1.0 or not size.area:
            return super().render_lines(crop)
        if max(size.width - 1, MIN_WIDTH) != self._layout.width:
            self.call_later(self._fit)
        inner = range(gutter.top, gutter.top + size.height)
        width = size.width + gutter.width
        edges = self._edges(width, gutter) if gutter != NO_FRAME else None
        made = []
        for y in crop.line_range:
            if y not in inner:
                made += super().render_lines(Region(0, y, width, 1))
            else:
                strip = self._line(y - gutter.top, size, thumb)
                made.append(strip if edges is None else Strip.join([edges[0], strip, edges[1]]))
        start, stop = crop.column_span
        return made if (start, stop) == (0, width) else [strip.crop(start, stop) for strip in made]

    def _edges(self, width: int, gutter: Spacing) -> tuple[Strip, Strip]:
        line = super().render_lines(Region(0, gutter.top, width, 1))[0]
        return line.crop(0, gutter.left), line.crop(width - gutter.right, width)

    def render_line(self, y: int) -> Strip:
        return self._line(y, self.size, self._thumb())

    def _line(self, y: int, size: Size, thumb: range) -> Strip:
        if self.behind and y == size.height - 1:
            return self._new_line(size.width)
        at = y + int(self.scroll_y)
        found = self.rows.window.at_line(at)
        if found is None:
            return self._blank_line(at - self.rows.height, size.width)
        seq_no, line = found
        key = (seq_no, line, seq_no == self.cursor, y in thumb)
        strip = self._strips.get(key)
        if strip is None or strip.cell_length != size.width:
            if len(self._strips) > MAX_STRIPS:
                self._strips.clear()
            self._draw(*key, size)
            strip = self._strips.get(key)
        return strip or Strip.blank(size.width, self._styles.ground)

    def _blank_line(self, n: int, width: int) -> Strip:
        """A line below the last row: empty, or a part of the text that says why."""
        words = self._empty_text() if n >= 0 else ""
        parts = wrapped(plain(words), max(width - 3, 8), n + 1) if words and n < BLANK_LINES else []
        line: Row = [TextSpan(f" {parts[n]}", "dim")] if n < len(parts) else [TextSpan(" ")]
        return self._strip(fitted(line, width - 1), width, False, False)

    def _empty_text(self) -> str:
        """The text below the last row."""
        return ""

    def _thumb(self) -> range:
        """The screen lines of the mark that shows the scroll position."""
        height, lines = self.size.height, self.rows.height
        if lines <= height:
            return range(0)
        size = max(1, height * height // lines)
        top = round((height - size) * self.scroll_y / (lines - height))
        return range(top, top + size)

    def _draw(self, seq_no: int, first: int, chosen: bool, thumb: bool, size: Size) -> None:
        """Make the strips of a row from line `first` on, at most a screen of them."""
        row = self.rows.row(seq_no)
        if row is None:
            return
        lines = row_lines(row, self._layout)
        opened = self._opened.get(seq_no)
        if opened is not None and opened.lines is not None:
            lines = lines + opened.lines
        for n, line in enumerate(lines[first : first + size.height], first):
            strip = self._strip(highlighted(line, self.term), size.width, chosen, thumb)
            self._strips[(seq_no, n, chosen, thumb)] = strip

    def _strip(self, line: Row, width: int, chosen: bool, thumb: bool) -> Strip:
        style = self._styles
        base = style.cursor if chosen else style.ground
        if chosen:
            first, *others = line
            line = [TextSpan("▌", "mark"), TextSpan(first.text[1:], first.style), *others]
        made, left = [], width - 1
        for span in line:
            size = cells(span.text)
            if size:
                made.append(Segment(visible(span.text), style.of(span.style, base)))
                left -= size
        if left < 0:
            made = list(Strip(made).adjust_cell_length(width - 1, base))
        elif left:
            made.append(Segment(" " * left, base))
        made.append(Segment("▐", style.of("thumb", style.ground)) if thumb else Segment(" ", style.ground))
        for line_filter in style.filters:
            made = line_filter.apply(made, style.background)
        return Strip(made, width)

    def _new_line(self, width: int) -> Strip:
        words = f" {self.behind:,} new ↓ "
        ground = self._styles.ground
        blank = Segment(" " * max(width - len(words), 0), ground)
        return Strip([blank, Segment(words, self._styles.of("new", ground))]).adjust_cell_length(width, ground)
