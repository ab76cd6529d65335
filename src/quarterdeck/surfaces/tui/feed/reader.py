"""Reading the log for the feed: what is recorded now, what is older, what is elsewhere; a bounded piece at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from msgspec import Struct
from textual import work
from textual.message import Message
from textual.reactive import var

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.feed.canvas import SLICE_SECONDS, FeedCanvas
from quarterdeck.surfaces.tui.feed.empty_state import Blank, looked_words
from quarterdeck.surfaces.tui.feed.rows.rows import Rows
from quarterdeck.surfaces.tui.feed.source import Event, FeedSource, Page

FLOOD, FLOOD_FRAME_SECONDS = 1000, 0.1
"""When so many events wait, not every piece of them is drawn: only when more come, and so often."""

BATCH = 64
TAIL = 2000
PAGES_UNASKED = 30
"""How many pages are read to fill a screen when a filter leaves little of them."""
PAGES_TOLD = 2
"""From so many pages on it is said that more are read."""


class Sought(Struct):
    """What is looked for in the log, and where."""

    what: str
    at: int = 0

    def words(self) -> str:
        return f"{self.what} … #{self.at}" if self.at else f"{self.what} …"


class FeedReader(FeedCanvas):
    """Keeps a window of the log: it follows the end, or stands elsewhere and only counts what is new."""

    telling = var("")
    """What is under way, and how far it is; or what waits for somebody to ask for it."""

    class Found(Message, namespace="feed_view"):
        """How a search or a jump ended; in words when it found nothing or the log could not be read."""

        def __init__(self, seq_no: int | None, words: str) -> None:
            super().__init__()
            self.seq_no, self.words = seq_no, words

    def __init__(
        self,
        source: FeedSource,
        *,
        label: Callable[[str], str] | None = None,
        cwd: Callable[[str], str] | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(label=label, cwd=cwd, id=id, classes=classes)
        self.source = source
        self._queue: deque[Event] = deque()
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._live = True
        self._draining = False
        self._drawn_at = 0.0
        self._undrawn = 0
        self._paging = False
        self._oldest_reached = False
        self._pages_unasked = 0
        self._cleared = False
        self._unread = False
        self._sought: Sought | None = None

    def follow(self, session_id: str | None = None) -> None:
        """Show one session, or all; from the end of the log, and on with what comes."""
        self.session_id = session_id
        self._look = self._make_look()
        self._reset()
        self._live = False
        self._load_end()

    def begin(self, seq_no: int) -> None:
        """What is appended from now on comes after this event: what is not here of all before is read from the log."""
        if not self._live or self.rows.last < seq_no:
            self.follow(self.session_id)

    def append(self, events: list[Event]) -> None:
        """Take events as they are recorded. They are drawn within the next frames, a slice at a time."""
        if self.session_id is not None:
            events = [event for event in events if event["session_id"] == self.session_id]
        if not self._live:
            self._tail.extend(events)
            self._set_behind(self.behind + len(events))
            return
        self._queue.extend(events)
        if self._draining and self.following:
            self._catch_up()  # who brings them draws as well, and one frame serves both
        if not self._draining and self._queue:
            self._draining = True
            self.call_later(self._drain)

    @property
    def is_paused(self) -> bool:
        """Whether looking back waits for somebody to ask for more."""
        return self._pages_unasked >= PAGES_UNASKED and not self._oldest_reached and not self._paging

    def look_further(self) -> None:
        """Go on looking back where that has paused."""
        if self.is_paused:
            self._pages_unasked = 0
            self._page_on()

    def _pause(self) -> bool:
        """Look no further back unless somebody asks; whether it was under way."""
        if not self._paging or self._pages_unasked < PAGES_TOLD:
            return False
        self._pages_unasked = PAGES_UNASKED
        return True

    def _blank_words(self) -> str:
        if self.rows.height:
            return looked_words(self.rows.first) if self.is_paused else ""
        return Blank(
            narrowed=self.rows.wanted.words,
            first=self.rows.first,
            paused=self.is_paused,
            one_session=self.session_id is not None,
            cleared=self._cleared,
            reading=not self._live or self._paging,
            unread=self._unread,
        ).words()

    def _tell(self) -> None:
        """Say what is under way, once it takes long."""
        if self._sought is not None:
            self.telling = self._sought.words()
        elif self._paging and self._pages_unasked >= PAGES_TOLD:
            self.telling = f"looking back … #{self.rows.first}"
        else:
            self.telling = looked_words(self.rows.first) if self.is_paused else ""
        if self.rows.height <= self.size.height:
            self.refresh()

    def _reset(self) -> None:
        self.rows = Rows(self._look.room, self.rows.wanted)
        self._opened.clear()
        self._queue.clear()
        self._tail.clear()
        self._strips.clear()
        self._live, self._oldest_reached, self.following, self.cursor = True, False, True, None
        self._undrawn = self._pages_unasked = 0
        self._paging = self._cleared = False
        self._tell()
        self._set_behind(0)
        self._resized()

    @work(exclusive=True, group="feed-window")
    async def _load_end(self) -> None:
        page = await self._asked(self.source.before(None, self.session_id))
        while page is not None and self._missed(page.events[-1]["seq_no"] if page.events else 0):
            self._tail.clear()  # what was set aside is in the log, and so in what is read next
            page = await self._asked(self.source.before(None, self.session_id))
        self._unread = page is None
        if page is not None:
            self._place(page.events)
        self._go_live()
        self.refresh()

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
        self._set_behind(0 if self.following else max(self.behind - len(waiting), 0))
        self.append(waiting)

    async def _asked(self, call: Awaitable[Page]) -> Page | None:
        """A page, or None while the daemon is away: it is asked again when somebody scrolls there."""
        try:
            return await call
        except QuarterdeckError as error:
            self.post_message(self.Found(None, str(error)))
            return None

    async def _drain(self) -> None:
        """Append what waits, for as long as a slice lasts."""
        now = time.perf_counter()
        until = now + SLICE_SECONDS
        batch: list[Event] = []
        with nullcontext() if self.following else self._steady():
            while self._queue and time.perf_counter() < until:
                batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
                self._undrawn += self.rows.append(batch)
        if len(self._queue) < FLOOD:
            self.source.keep(batch)
        if not self.following:
            self._set_behind(self.behind + self._undrawn)
            self._undrawn = 0
        elif len(self._queue) < FLOOD or now >= self._drawn_at + FLOOD_FRAME_SECONDS:
            self._catch_up()
        if self._queue:
            self._soon(self._drain)
        else:
            self._draining = False

    def _catch_up(self) -> None:
        """Show the end as it is now."""
        self._drawn_at, self._undrawn = time.perf_counter(), 0
        with self._steady():
            pass

    @work(exclusive=True, group="feed-page")
    async def _load_older(self) -> None:
        rows = self.rows
        page = await self._asked(self.source.before(rows.first, self.session_id))
        self._paging = False
        if page is None or rows is not self.rows:
            return
        self._oldest_reached = not page.events
        with self._steady():
            rows.prepend(page.events)
        self._pages_unasked += 1
        self.call_after_refresh(self._page_on)

    @work(exclusive=True, group="feed-page")
    async def _load_newer(self) -> None:
        rows = self.rows
        page = await self._asked(self.source.after(rows.last, self.session_id))
        self._paging = False
        if page is None or rows is not self.rows:
            return
        with self._steady():
            rows.append(page.events)
        if not page.more and not self._missed(rows.last):
            self._go_live()

    def _missed(self, last: int) -> bool:
        """Whether more came after the last event than was set aside, so that some of it is in the log only."""
        return len(self._tail) == TAIL and self._tail[0]["seq_no"] > last + 1

    async def _open_around(self, seq_no: int) -> bool:
        """Make a window of the log around an event that is not in this one."""
        rows = self.rows
        older = await self._asked(self.source.before(seq_no + 1, self.session_id))
        newer = await self._asked(self.source.after(seq_no, self.session_id))
        if older is None or newer is None or not older.events or rows is not self.rows:
            return False
        behind = self.behind
        self._reset()
        self.following, self._live = False, False
        self.rows.append([*older.events, *newer.events])
        self.source.keep([*older.events, *newer.events])
        self._set_behind(behind)
        self._resized()
        self.call_after_refresh(self._page_if_near)  # what came while this was read is in the log only
        return True

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
        self._page_on()

    def _page_if_near(self) -> None:
        if self._paging or not self.is_mounted or not self.rows.first:
            return
        patient = self._pages_unasked < PAGES_UNASKED
        if self.scroll_y < self.size.height and not self._oldest_reached and patient:
            self._paging = True
            self._load_older()
        elif not self._live and self.scroll_y > self.rows.height - 2 * self.size.height:
            self._paging = True
            self._load_newer()

    def _page_on(self) -> None:
        self._page_if_near()
        self._tell()

    def _settled(self) -> None:
        self._page_on()
