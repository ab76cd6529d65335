"""Drawing the feed: the rows that are visible as strips for the screen, and where everything stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from msgspec import Struct
from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from quarterdeck.core.text.sanitize import visible
from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, cells, fitted, highlighted, plain, wrapped
from quarterdeck.surfaces.tui.feed.rows.row_lines import Look, row_lines
from quarterdeck.surfaces.tui.feed.rows.rows import Rows
from quarterdeck.surfaces.tui.feed.styles import Styles

SLICE_SECONDS = 0.01
"""How long one piece of work may keep the screen and the keys waiting."""

BREATH_SECONDS = 0.001
"""What others have between two pieces."""

NO_FRAME = Spacing()
NARROWEST = 20
STRIPS = 2000
BLANK_LINES = 3


def clock(at: float) -> str:
    """The time of day, here."""
    return time.strftime("%H:%M:%S", time.localtime(at))


class Opened(Struct):
    """An event opened in place: as told or raw, how far, and its lines once they are made."""

    raw: bool = False
    step: int = 0
    lines: list[Line] | None = None


class FeedCanvas(ScrollView):
    """Draws what is visible of its rows. What is read stays in its place while rows change around it."""

    class Behind(Message, namespace="feed_view"):
        """So many shown events came below what is read; 0 when the end is followed again."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(
        self,
        *,
        label: Callable[[str], str] | None = None,
        cwd: Callable[[str], str] | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = Rows()
        self.cursor: int | None = None
        self.following = True
        self.behind = 0
        self.term = ""
        self.session_id: str | None = None
        self._label = label or (lambda session_id: session_id[:8])
        self._cwd = cwd
        self._look = Look(width=80, clock=clock, label=self._label, cwd=cwd)
        self._opened: dict[int, Opened] = {}
        self._settling = False
        self._strips: dict[tuple[int, int, bool, bool], Strip] = {}
        self._styles = Styles(self)

    def _steady(self) -> _Anchor:
        """What is on screen stays where it is while rows change above it."""
        return _Anchor(self)

    def _resized(self) -> None:
        size = Size(self.size.width, self.rows.height)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def _to_end(self) -> None:
        self.following = True
        self._put(self.rows.height)
        if self.rows.last:
            self.cursor = None
        self._set_behind(0)

    def _put(self, line: float) -> None:
        self.scroll_to(y=max(0, min(line, self.max_scroll_y)), animate=False, force=True)

    def _set_behind(self, count: int) -> None:
        if count != self.behind:
            self.behind = count
            self.post_message(self.Behind(count))
            self.refresh()

    def _make_look(self) -> Look:
        width = max(self.size.width - 1, NARROWEST)
        return Look(width=width, clock=clock, label=None if self.session_id else self._label, cwd=self._cwd)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """Take up the room there is."""
        look = self._make_look()
        if look == self._look and self.rows.width == look.room:
            self._resized()
            if self.following:
                self._put(self.rows.height)  # with less room the end would be below it
            return
        with self._steady():
            self._look = look
            self._strips.clear()
            self.rows.shape(width=look.room)
        self._refill()
        self._settle_on()

    def _soon(self, piece: Callable[[], object]) -> None:
        """The next piece of work, once others had their turn. A timer of Textual's would not do: one that is due by the
        time it first looks at the clock, as on a busy machine, never rings."""
        asyncio.get_running_loop().call_later(BREATH_SECONDS, self.call_later, piece)

    def _settle_on(self) -> None:
        self._strips.clear()
        if not self._settling:
            self._settling = True
            self.call_later(self._settle)

    def _settle(self) -> None:
        started, left = time.perf_counter(), True
        with self._steady():
            while left and time.perf_counter() - started < SLICE_SECONDS:
                left = self.rows.window.settle(4)
        if left:
            self._soon(self._settle)
        else:
            self._settling = False
            self._settled()

    def _refill(self) -> None:
        """Opened events need other lines."""

    def _settled(self) -> None:
        """Every row has its height."""

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.forget()
        self._strips.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Straight to the screen, past what Textual does for each line of a widget: this is where the time of a frame
        goes. The frame around is Textual's, and one line of it serves for all."""
        gutter, size, thumb = self.styles.gutter, self.size, self._thumb()
        if self.opacity != 1.0 or not size.area:
            return super().render_lines(crop)
        if max(size.width - 1, NARROWEST) != self._look.width:
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
            if len(self._strips) > STRIPS:
                self._strips.clear()
            self._draw(*key, size)
            strip = self._strips.get(key)
        return strip or Strip.blank(size.width, self._styles.ground)

    def _blank_line(self, n: int, width: int) -> Strip:
        """A line below the last row: there is nothing, or a word why."""
        words = self._blank_words() if n >= 0 else ""
        parts = wrapped(plain(words), max(width - 3, 8), n + 1) if words and n < BLANK_LINES else []
        line: Line = [(f" {parts[n]}", "dim")] if n < len(parts) else [(" ", "")]
        return self._strip(fitted(line, width - 1), width, False, False)

    def _blank_words(self) -> str:
        """What is said below the last row."""
        return ""

    def _thumb(self) -> range:
        """Beside which lines the mark stands that says where in the window one is."""
        height, lines = self.size.height, self.rows.height
        if lines <= height:
            return range(0)
        size = max(1, height * height // lines)
        top = round((height - size) * self.scroll_y / (lines - height))
        return range(top, top + size)

    def _draw(self, seq_no: int, first: int, chosen: bool, thumb: bool, size: Size) -> None:
        """Make the strips of a row from one of its lines on, as many as a screen has."""
        row = self.rows.row(seq_no)
        if row is None:
            return
        lines = row_lines(row, self._look)
        opened = self._opened.get(seq_no)
        if opened is not None and opened.lines is not None:
            lines = lines + opened.lines
        for n, line in enumerate(lines[first : first + size.height], first):
            strip = self._strip(highlighted(line, self.term), size.width, chosen, thumb)
            self._strips[(seq_no, n, chosen, thumb)] = strip

    def _strip(self, line: Line, width: int, chosen: bool, thumb: bool) -> Strip:
        style = self._styles
        base = style.cursor if chosen else style.ground
        if chosen:
            first, role = line[0]
            line = [("▌", "mark"), (first[1:], role), *line[1:]]
        made, left = [], width - 1
        for text, role in line:
            size = cells(text)
            if size:
                made.append(Segment(visible(text), style.of(role, base)))
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


class _Anchor:
    """Remembers which row is at the top of the screen, and puts it back there."""

    def __init__(self, view: FeedCanvas) -> None:
        self._view = view
        self._top: tuple[int, int] | None = None

    def __enter__(self) -> None:
        view = self._view
        if not view.following:
            self._top = view.rows.window.at_line(int(view.scroll_y))

    def __exit__(self, *_: object) -> None:
        view = self._view
        view._strips.clear()
        view._resized()
        if view.following:
            view._put(view.rows.height)
        elif self._top is not None:
            seq_no, line = self._top
            view._put(view.rows.window.line_of(seq_no) + min(line, max(view.rows.window.height_of(seq_no) - 1, 0)))
