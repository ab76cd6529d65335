"""The feed as a widget: draws what is visible of a window of the log, and does a bounded piece of work at a time."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct
from rich.segment import Segment
from textual import events, work
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from quarterdeck.core.text import visible
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.feed import seeking
from quarterdeck.surfaces.tui.feed.details import STEPS, copied, detail_lines, shown_lines
from quarterdeck.surfaces.tui.feed.lines import Look, row_lines
from quarterdeck.surfaces.tui.feed.pieces import Line, cells, highlighted
from quarterdeck.surfaces.tui.feed.rows import Rows
from quarterdeck.surfaces.tui.feed.source import Event, FeedSource, Page, weight
from quarterdeck.surfaces.tui.feed.styles import CSS, ROLES, Styles
from quarterdeck.surfaces.tui.feed.wanted import Wanted

SLICE_SECONDS = 0.012
"""How long one piece of work may keep the screen and the keys waiting."""

FLOOD, FLOOD_SECONDS = 1000, 0.025
"""When so many events wait, a piece may last longer."""

NO_FRAME = Spacing()
NARROWEST = 20
STRIPS = 2000
HEAVY = 50_000
"""Characters from which on an event is made readable in a thread."""

BATCH = 64
TAIL = 2000
PAGES_UNASKED = 30
"""How many pages are read to fill a screen when a filter leaves little of them."""


def clock(at: float) -> str:
    """The time of day, here."""
    return time.strftime("%H:%M:%S", time.localtime(at))


class Opened(Struct):
    """An event opened in place: as told or raw, how far, and its lines once they are made."""

    raw: bool = False
    step: int = 0
    lines: list[Line] | None = None


class FeedView(ScrollView, can_focus=True):
    """A window of the log. Give it events with `append`; it asks its source for what is older or out of sight."""

    DEFAULT_CSS = CSS
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"feed--{role}" for role in ROLES}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "Page down", show=False),
        Binding("home,g", "start", "Start", show=False),
        Binding("end,G", "end", "Follow", show=False),
        Binding("enter,space", "open", "Expand"),
        Binding("r", "raw", "Raw JSON", show=False),
        Binding("m", "more", "More", show=False),
        Binding("z", "fold", "Fold agent", show=False),
        Binding("y", "copy", "Copy", show=False),
        Binding("n", "match(-1)", "Next match", show=False),
        Binding("N", "match(1)", "Previous match", show=False),
        Binding("left_curly_bracket", "jump('prompt',-1)", "Prompt above", show=False),
        Binding("right_curly_bracket", "jump('prompt',1)", "Prompt below", show=False),
        Binding("left_square_bracket", "jump('decision',-1)", "Decision above", show=False),
        Binding("right_square_bracket", "jump('decision',1)", "Decision below", show=False),
        Binding("x", "jump('error',-1)", "Error above", show=False),
        Binding("X", "jump('error',1)", "Error below", show=False),
    ]

    class Selected(Message):
        """Another event is under the cursor."""

        def __init__(self, event: Event) -> None:
            super().__init__()
            self.event = event

    class Behind(Message):
        """So many shown events came below what is read; 0 when the end is followed again."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    class Found(Message):
        """How a search or a jump ended, in words when it found nothing."""

        def __init__(self, seq_no: int | None, words: str) -> None:
            super().__init__()
            self.seq_no, self.words = seq_no, words

    def __init__(
        self,
        source: FeedSource,
        *,
        label: Callable[[str], str] | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.source = source
        self.rows = Rows()
        self.cursor: int | None = None
        self.following = True
        self.behind = 0
        self.term = ""
        self.session_id: str | None = None
        self._label = label or (lambda session_id: session_id[:8])
        self._look = Look(width=80, clock=clock, label=self._label)
        self._opened: dict[int, Opened] = {}
        self._queue: deque[Event] = deque()
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._live = True
        self._draining = False
        self._settling = False
        self._paging: str | None = None
        self._oldest_reached = False
        self._pages_unasked = 0
        self._strips: dict[tuple[int, int, bool, bool], Strip] = {}
        self._styles = Styles(self)

    # What others call

    def follow(self, session_id: str | None = None) -> None:
        """Show one session, or all; from the end of the log, and on with what comes."""
        self.session_id = session_id
        self._look = self._make_look()
        self._reset()
        self._load_end()

    def append(self, events: list[Event]) -> None:
        """Take events as they are recorded. They are drawn within the next frames, a slice at a time."""
        if self.session_id is not None:
            events = [event for event in events if event["session_id"] == self.session_id]
        if not self._live:
            self._tail.extend(events)
            self._set_behind(self.behind + len(events))
            return
        self._queue.extend(events)
        if not self._draining and self._queue:
            self._draining = True
            self.call_later(self._drain)

    def set_filter(self, wanted: Wanted) -> None:
        """Show only these events. What is on screen changes at once, the rest of the window in slices."""
        with self._steady():
            self.rows.shape(wanted=wanted)
        self._pages_unasked = 0
        self._settle_on()

    def search(self, text: str) -> None:
        """Highlight a text and go to the nearest event above that holds it, in the window or in the log."""
        self.term = text.strip()
        self._strips.clear()
        self.refresh()
        if self.term:
            self._seek_match(-1, fresh=True)

    def jump(self, kind: str, step: int = -1) -> None:
        """Go to the next `error`, `decision`, `prompt` or `request`, upwards unless told."""
        self._seek_kind(kind, step)

    def toggle_expand(self) -> None:
        """Open or close the event under the cursor, in place."""
        seq_no = self._current()
        if seq_no is None:
            return
        actor = self.rows.actor_under(seq_no)
        if seq_no in self._opened:
            self._close(seq_no)
        elif actor is not None and not self.rows.groups[actor].opened:
            self.action_fold()
        else:
            self._opened[seq_no] = Opened()
            self._fill(seq_no)

    def copy_text(self) -> str:
        """The event under the cursor as text."""
        seq_no = self._current()
        event = None if seq_no is None else self.source.held(seq_no)
        row = None if seq_no is None else self.rows.row(seq_no)
        if row is None:
            return ""
        if event is None:
            return "\n".join(part for part in (row.text.replace("\x00", "\n"), row.after) if part)
        return copied(event, self.source.held(row.partner) if row.partner else None)

    # The window

    def _reset(self) -> None:
        self.rows = Rows(self._look.room, self.rows.wanted)
        self._opened.clear()
        self._queue.clear()
        self._tail.clear()
        self._strips.clear()
        self._live, self._oldest_reached, self.following, self.cursor = True, False, True, None
        self._set_behind(0)
        self._resized()

    @work(exclusive=True, group="feed-window")
    async def _load_end(self) -> None:
        session_id = self.session_id
        self._live = False
        page = await self._asked(self.source.before(None, session_id))
        if page is not None:
            self._place(page.events)
        self._go_live()

    def _place(self, found: list[Event]) -> None:
        self.source.keep(found)
        self.rows.append(found)
        self._resized()
        if self.following:
            self._to_end()

    def _go_live(self) -> None:
        waiting = list(self._tail)
        self._tail.clear()
        self._live = True
        self.append(waiting)
        if self.following:
            self._set_behind(0)

    async def _asked(self, call: Any) -> Page | None:
        """A page, or None while the daemon is away: it is asked again when somebody scrolls there."""
        try:
            page: Page = await call
        except QuarterdeckError as error:
            self.post_message(self.Found(None, str(error)))
            return None
        return page

    async def _drain(self) -> None:
        """Append what waits, for as long as a slice lasts."""
        until = time.perf_counter() + (SLICE_SECONDS if len(self._queue) < FLOOD else FLOOD_SECONDS)
        batch: list[Event] = []
        shown = 0
        with self._steady():
            while self._queue and time.perf_counter() < until:
                batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
                shown += self.rows.append(batch)
        if len(self._queue) < FLOOD:
            self.source.keep(batch)
        if not self.following and shown:
            self._set_behind(self.behind + shown)
        if self._queue:
            self.set_timer(0.001, self._drain)
        else:
            self._draining = False

    @work(exclusive=True, group="feed-page")
    async def _load_older(self) -> None:
        try:
            page = await self._asked(self.source.before(self.rows.first, self.session_id))
            if page is None:
                return
            self._oldest_reached = not page.events
            with self._steady():
                self.rows.prepend(page.events)
        finally:
            self._paging = None
        self._pages_unasked += 1
        self.call_after_refresh(self._page_if_near)

    @work(exclusive=True, group="feed-page")
    async def _load_newer(self) -> None:
        try:
            page = await self._asked(self.source.after(self.rows.last, self.session_id))
            if page is None:
                return
            with self._steady():
                self.rows.append(page.events)
            if not page.more:
                self._go_live()
        finally:
            self._paging = None

    async def _open_around(self, seq_no: int) -> bool:
        """Make a window of the log around an event that is not in this one."""
        older = await self._asked(self.source.before(seq_no + 1, self.session_id))
        newer = await self._asked(self.source.after(seq_no, self.session_id))
        if older is None or newer is None or not older.events:
            return False
        behind = self.behind
        self._reset()
        self.following, self._live = False, False
        self.rows.append([*older.events, *newer.events])
        self.source.keep([*older.events, *newer.events])
        self._set_behind(behind)
        self._resized()
        if not newer.more:
            self._go_live()
        return True

    # Where things stand

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

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        at_end = new_value >= self.max_scroll_y
        if new_value < old_value and not at_end:
            self.following = False
        elif at_end and self._live and not self.following:
            self.following = True
            self._set_behind(0)
        if new_value != old_value:
            self._pages_unasked = 0
        self._page_if_near()

    def _page_if_near(self) -> None:
        if self._paging or not self.is_mounted or not self.rows.first:
            return
        patient = self._pages_unasked < PAGES_UNASKED
        if self.scroll_y < self.size.height and not self._oldest_reached and patient:
            self._paging = "older"
            self._load_older()
        elif not self._live and self.scroll_y > self.rows.height - 2 * self.size.height:
            self._paging = "newer"
            self._load_newer()

    def _current(self) -> int | None:
        """The row under the cursor; without one the last on screen."""
        if self.cursor is not None and self.rows.window.height_of(self.cursor):
            return self.cursor
        found = self.rows.window.at_line(min(int(self.scroll_y) + self.size.height, self.rows.height) - 1)
        return None if found is None else found[0]

    def _select(self, seq_no: int, show: bool = True) -> None:
        self.cursor = seq_no
        if show:
            self._show(seq_no)
        self.refresh()
        self._tell_selected(seq_no)

    @work(exclusive=True, group="feed-selected")
    async def _tell_selected(self, seq_no: int) -> None:
        event = await self.source.event(seq_no)
        if event is not None and self.cursor == seq_no:
            self.post_message(self.Selected(event))

    def _show(self, seq_no: int) -> None:
        top, height = self.rows.window.line_of(seq_no), max(self.rows.window.height_of(seq_no), 1)
        self._resized()
        if top < self.scroll_y:
            self._put(top)
        elif top + height > self.scroll_y + self.size.height:
            self._put(top if height > self.size.height else top + height - self.size.height)

    # Opening

    @work(group="feed-fill")
    async def _fill(self, seq_no: int) -> None:
        """Make the lines of an opened event; one that is not at hand is fetched."""
        row = self.rows.row(seq_no)
        event = await self.source.event(seq_no)
        after = await self.source.event(row.partner) if row is not None and row.partner else None
        opened = self._opened.get(seq_no)
        if opened is None or row is None:
            return
        if event is None:
            opened.lines = [[(" " * self._look.left + "no longer in the log, or the daemon is away", "warn")]]
        else:
            lines = detail_lines(event, after, self._causes(event), raw=opened.raw)
            args = (lines, self._look.width, self._look.left, opened.step)
            heavy = opened.step > 0 or weight(event["data"]) + weight(after and after["data"]) > HEAVY
            opened.lines = await asyncio.to_thread(shown_lines, *args) if heavy else shown_lines(*args)
        with self._steady():
            self.rows.expand(seq_no, len(row_lines(row, self._look)) + len(opened.lines))
        if self.cursor == seq_no:
            self._show(seq_no)

    def _causes(self, event: Event) -> list[str]:
        """From what an event follows, as far as it is known here."""
        made: list[str] = []
        cause, before = event.get("cause") or {}, int(event["seq_no"])
        while len(made) < 5 and cause.get("parent_event_id"):
            parent = self.rows.parent(str(cause["parent_event_id"]), before)
            found = None if parent is None else self.source.held(parent)
            if found is None:
                break
            made.append(f"#{parent} {found.get('title')}")
            cause, before = found.get("cause") or {}, int(found["seq_no"])
        return made

    def _close(self, seq_no: int) -> None:
        self._opened.pop(seq_no, None)
        with self._steady():
            self.rows.expand(seq_no, None)

    # Seeking

    @work(exclusive=True, group="feed-seek")
    async def _seek_match(self, step: int, fresh: bool = False) -> None:
        term = self.term
        start = self._start(step, fresh)
        found = await self._walk(seeking.holds(term), start, step)
        if found is None:
            found = await self._ask_log(step, start, q=term)
        await self._arrive(found, f"nothing more with “{term}”")

    @work(exclusive=True, group="feed-seek")
    async def _seek_kind(self, kind: str, step: int) -> None:
        start = self._start(step, False)
        found = await self._walk(seeking.is_a(kind, self.rows), start, step)
        if found is None and kind in seeking.KINDS:
            found = await self._ask_log(step, start, kind=list(seeking.KINDS[kind]))
        await self._arrive(found, f"no {kind} {'above' if step < 0 else 'below'}")

    def _start(self, step: int, fresh: bool) -> int:
        current = self._current()
        if current is None or (self.cursor is None and step < 0):
            return self.rows.last + 1
        return current + 1 if fresh else current

    async def _walk(self, test: seeking.Test, start: int, step: int) -> int | None:
        """The next row of the window that passes and is shown, in slices."""
        begun = time.perf_counter()
        for seq_no in self.rows.seek(test, start, step):
            if seq_no is not None:
                head = self.rows.shown_as(seq_no)
                if head != start and self.rows.window.height_of(head):
                    return head
            if time.perf_counter() - begun > SLICE_SECONDS:
                await asyncio.sleep(0)
                begun = time.perf_counter()
        return None

    async def _ask_log(self, step: int, start: int, **query: Any) -> int | None:
        """The next event beyond the window that the daemon finds."""
        if step < 0:
            page = await self._asked(self.source.before(min(start, self.rows.first), self.session_id, 1, **query))
        elif self._live:
            return None
        else:
            page = await self._asked(self.source.after(max(start, self.rows.last), self.session_id, 1, **query))
        return page.events[-1]["seq_no"] if page is not None and page.events else None

    async def _arrive(self, seq_no: int | None, nothing: str) -> None:
        if seq_no is not None and seq_no not in self.rows and not await self._open_around(seq_no):
            seq_no = None
        if seq_no is None:
            self.post_message(self.Found(None, nothing))
            return
        head = self.rows.shown_as(seq_no)
        self.following = False
        self._select(head, show=False)
        self._resized()
        self._put(self.rows.window.line_of(head) - self.size.height // 3)
        self.post_message(self.Found(head, ""))

    # Drawing

    def _make_look(self) -> Look:
        width = max(self.size.width - 1, NARROWEST)
        return Look(width=width, clock=clock, label=None if self.session_id else self._label)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """Take up the room there is."""
        look = self._make_look()
        if look == self._look and self.rows.width == look.room:
            self._resized()
            return
        with self._steady():
            self._look = look
            self._strips.clear()
            self.rows.shape(width=look.room)
        for seq_no in list(self._opened):
            self._fill(seq_no)
        self._settle_on()

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
            self.set_timer(0.001, self._settle)
        else:
            self._settling = False
            self._page_if_near()

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
        found = self.rows.window.at_line(y + int(self.scroll_y))
        if found is None:
            return Strip.blank(size.width, self._styles.ground)
        seq_no, line = found
        key = (seq_no, line, seq_no == self.cursor, y in thumb)
        strip = self._strips.get(key)
        if strip is None or strip.cell_length != size.width:
            if len(self._strips) > STRIPS:
                self._strips.clear()
            self._draw(*key, size)
            strip = self._strips.get(key)
        return strip or Strip.blank(size.width, self._styles.ground)

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

    # Keys and mouse

    def action_move(self, step: int) -> None:
        current = self._current()
        if current is None:
            return
        if self.cursor is None:
            self.following = False
            self._select(current)
            return
        following = self.rows.window.neighbour(current, step)
        if following is not None:
            self._select(following)
        elif step > 0 and self._live:
            self._to_end()

    def action_page(self, step: int) -> None:
        self._put(self.scroll_y + step * max(self.size.height - 2, 1))
        if self.cursor is not None:
            found = self.rows.window.at_line(int(self.scroll_y) + (0 if step < 0 else self.size.height - 1))
            if found is not None:
                self._select(found[0], show=False)

    def action_start(self) -> None:
        self.following = False
        self._put(0)

    def action_end(self) -> None:
        if self._live:
            self._to_end()
            self.refresh()
        else:
            self.follow(self.session_id)

    def action_open(self) -> None:
        self.toggle_expand()

    def action_raw(self) -> None:
        self._reopen(lambda opened: Opened(raw=not opened.raw))

    def action_more(self) -> None:
        self._reopen(lambda opened: Opened(raw=opened.raw, step=min(opened.step + 1, len(STEPS) - 1)))

    def _reopen(self, change: Callable[[Opened], Opened]) -> None:
        seq_no = self._current()
        if seq_no is not None:
            made = change(self._opened.get(seq_no, Opened()))
            made.lines = self._opened[seq_no].lines if seq_no in self._opened else None
            self._opened[seq_no] = made
            self._fill(seq_no)

    def action_fold(self) -> None:
        seq_no = self._current()
        actor = None if seq_no is None else self.rows.actor_under(seq_no)
        if actor is not None:
            with self._steady():
                self.rows.fold(actor, not self.rows.groups[actor].opened)
            self._settle_on()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.copy_text())

    def action_match(self, step: int) -> None:
        if self.term:
            self._seek_match(step)

    def action_jump(self, kind: str, step: int) -> None:
        self.jump(kind, step)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.x == self.size.width - 1:
            self.capture_mouse()
            self._drag(at.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event.get_content_offset_capture(self).y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def _drag(self, y: int) -> None:
        self._put(self.max_scroll_y * y / max(self.size.height - 1, 1))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or at.x == self.size.width - 1:
            return
        if self.behind and at.y == self.size.height - 1:
            self.action_end()
            return
        found = self.rows.window.at_line(int(at.y + self.scroll_y))
        if found is None:
            return
        again = self.cursor == found[0]
        self._select(found[0], show=False)
        if again:
            self.toggle_expand()


class _Anchor:
    """Remembers which row is at the top of the screen, and puts it back there."""

    def __init__(self, view: FeedView) -> None:
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
