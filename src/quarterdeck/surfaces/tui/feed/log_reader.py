"""Reads the log for the feed, a bounded piece at a time: new events, older ones, and those around a search result."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass

from msgspec import Struct
from textual import work
from textual.message import Message
from textual.reactive import var

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.feed.canvas import SLICE_SECONDS, FeedCanvas
from quarterdeck.surfaces.tui.feed.empty_state import EmptyState, paused_text
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from quarterdeck.surfaces.tui.feed.source import Event, FeedSource, SourcePage

FLOOD, FLOOD_FRAME_SECONDS = 1000, 0.1
"""With this many events in the queue, a frame is drawn only this often, not after every slice."""

BATCH = 64
TAIL = 2000
AUTO_PAGES = 30
"""Pages read without a key press to fill the screen when a filter leaves little of each."""
PAGES_BEFORE_PROGRESS = 2
"""Pages after which the progress of reading back is shown."""


class SearchTarget(Struct):
    """A running search: its label, and the event it has reached."""

    label: str
    at: int = 0

    def text(self) -> str:
        return f"{self.label} … #{self.at}" if self.at else f"{self.label} …"


class FeedReader(FeedCanvas):
    """Keeps a window of the log. It follows the end, or stays elsewhere and only counts new events."""

    progress = var("")
    """The running search or reading and its position, or the key that goes on with a paused one."""

    stored = var(False)
    """True while every event is shown as it is stored, not as rows."""

    match_place = var("")
    """Which match of the search the cursor is on, as `3 of 17`; with a + as long as older pages are not read."""

    @dataclass
    class Found(Message, namespace="feed_view"):
        """A search or a jump has ended. `words`: why there is no result; empty when there is one."""

        seq_no: int | None
        words: str

    def __init__(
        self,
        source: FeedSource,
        *,
        label: Callable[[str], str] | None = None,
        cwd: Callable[[str], str] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(label=label, cwd=cwd, id=id)
        self.source = source
        self._queue: deque[Event] = deque()
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._live = True
        self._draining = False
        self._drawn_at = 0.0
        self._undrawn = 0
        self._paging = False
        self._oldest_reached = False
        self._auto_pages = 0
        self._cleared = False
        self._read_failed = False
        self._search_target: SearchTarget | None = None

    def follow(self, session_id: str | None = None) -> None:
        """Show one session, or all, from the end of the log, and follow new events."""
        self.session_id = session_id
        self._layout = self._make_layout()
        self._reset()
        self._live = False
        self._load_end()

    def expect_after(self, seq_no: int) -> None:
        """Prepare for events after this one: if the window does not reach up to it, read the end of the log again."""
        if not self._live or self.rows.last < seq_no:
            self.follow(self.session_id)

    def append(self, events: list[Event]) -> None:
        """Take new events. They are drawn in the next frames, a slice at a time."""
        if self.session_id is not None:
            events = [event for event in events if event["session_id"] == self.session_id]
        if not self._live:
            self._tail.extend(events)
            self._set_behind(self.behind + len(events))
            return
        self._queue.extend(events)
        if self._draining and self.following:
            self._draw_end()  # the caller draws a frame as well, and one frame is enough for both
        if not self._draining and self._queue:
            self._draining = True
            self.call_later(self._drain)

    @property
    def is_paused(self) -> bool:
        """True when reading back waits for a key press."""
        return self._auto_pages >= AUTO_PAGES and not self._oldest_reached and not self._paging

    def resume_loading(self) -> None:
        """Go on reading back if that has paused."""
        if self.is_paused:
            self._auto_pages = 0
            self._page_and_report()

    def _pause_loading(self) -> bool:
        """Stop reading back until a key press. False if it was not running."""
        if not self._paging or self._auto_pages < PAGES_BEFORE_PROGRESS:
            return False
        self._auto_pages = AUTO_PAGES
        return True

    def _empty_text(self) -> str:
        if self.rows.height:
            return paused_text(self.rows.first) if self.is_paused else ""
        return EmptyState(
            filter_text=self.rows.feed_filter.text,
            first=self.rows.first,
            paused=self.is_paused,
            one_session=self.session_id is not None,
            cleared=self._cleared,
            reading=not self._live or self._paging,
            read_failed=self._read_failed,
        ).text()

    def _update_progress(self) -> None:
        """Show the progress of a search, or of reading back once that takes long."""
        if self._search_target is not None:
            self.progress = self._search_target.text()
        elif self._paging and self._auto_pages >= PAGES_BEFORE_PROGRESS:
            self.progress = f"reading back … #{self.rows.first}"
        else:
            self.progress = paused_text(self.rows.first) if self.is_paused else ""
        if self.rows.height <= self.size.height:
            self.refresh()

    def _reset(self) -> None:
        self.rows = FeedRows(self._layout.room, self.rows.feed_filter, stored=self.stored)
        self._opened.clear()
        self._queue.clear()
        self._tail.clear()
        self._strips.clear()
        self._live, self._oldest_reached, self.following, self.cursor = True, False, True, None
        self._undrawn = self._auto_pages = 0
        self._paging = self._cleared = False
        self._update_progress()
        self._set_behind(0)
        self._update_size()

    @work(exclusive=True, group="feed-window")
    async def _load_end(self) -> None:
        page = await self._page_or_none(self.source.before(None, self.session_id))
        while page is not None and self._has_gap(page.events[-1]["seq_no"] if page.events else 0):
            self._tail.clear()  # the events set aside are in the log by now, so the next page has them
            page = await self._page_or_none(self.source.before(None, self.session_id))
        self._read_failed = page is None
        if page is not None:
            self._show_page(page.events)
        self._go_live()
        self.refresh()

    def _show_page(self, found: list[Event]) -> None:
        self.source.keep(found)
        self.rows.append(found)
        self._update_size()
        if self.following:
            self._to_end()

    def _go_live(self) -> None:
        waiting = list(self._tail)
        self._tail.clear()
        self._live = True
        self._set_behind(0 if self.following else max(self.behind - len(waiting), 0))
        self.append(waiting)

    async def _page_or_none(self, call: Awaitable[SourcePage]) -> SourcePage | None:
        """A page, or None while the daemon does not answer: it is asked again when the person scrolls there."""
        try:
            return await call
        except QuarterdeckError as error:
            self.post_message(self.Found(None, str(error)))
            return None

    async def _drain(self) -> None:
        """Append queued events for one slice of time, but at least one batch: on a busy machine a slice may be over
        before anything was done."""
        now = time.perf_counter()
        batch: list[Event] = []
        with nullcontext() if self.following else self._keep_place():
            while self._queue and (not batch or time.perf_counter() < now + SLICE_SECONDS):
                batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
                self._undrawn += self.rows.append(batch)
        if len(self._queue) < FLOOD:
            self.source.keep(batch)
        if not self.following:
            self._set_behind(self.behind + self._undrawn)
            self._undrawn = 0
        elif len(self._queue) < FLOOD or now >= self._drawn_at + FLOOD_FRAME_SECONDS:
            self._draw_end()
        if self._queue:
            self._run_soon(self._drain)
        else:
            self._draining = False

    def _draw_end(self) -> None:
        """Draw the current end of the feed."""
        self._drawn_at, self._undrawn = time.perf_counter(), 0
        with self._keep_place():
            pass

    @work(exclusive=True, group="feed-page")
    async def _load_older(self) -> None:
        rows = self.rows
        page = await self._page_or_none(self.source.before(rows.first, self.session_id))
        self._paging = False
        if page is None or rows is not self.rows:
            return
        self._oldest_reached = not page.events
        with self._keep_place():
            rows.prepend(page.events)
        self._auto_pages += 1
        self.call_after_refresh(self._page_and_report)

    @work(exclusive=True, group="feed-page")
    async def _load_newer(self) -> None:
        rows = self.rows
        page = await self._page_or_none(self.source.after(rows.last, self.session_id))
        self._paging = False
        if page is None or rows is not self.rows:
            return
        with self._keep_place():
            rows.append(page.events)
        if not page.more and not self._has_gap(rows.last):
            self._go_live()

    def _has_gap(self, last: int) -> bool:
        """True if more events came after `last` than the tail holds, so that some of them are only in the log."""
        return len(self._tail) == TAIL and self._tail[0]["seq_no"] > last + 1

    async def _open_around(self, seq_no: int) -> bool:
        """Replace the window by one around this event. False if the log could not be read."""
        rows = self.rows
        older = await self._page_or_none(self.source.before(seq_no + 1, self.session_id))
        newer = await self._page_or_none(self.source.after(seq_no, self.session_id))
        if older is None or newer is None or not older.events or rows is not self.rows:
            return False
        behind = self.behind
        self._reset()
        self.following, self._live = False, False
        self.rows.append([*older.events, *newer.events])
        self.source.keep([*older.events, *newer.events])
        self._set_behind(behind)
        self._update_size()
        self.call_after_refresh(self._page_if_near)  # events that came during the reads are only in the log
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
            self._auto_pages = 0
        self._page_and_report()

    def _page_if_near(self) -> None:
        if self._paging or not self.is_mounted or not self.rows.first:
            return
        may_read = self._auto_pages < AUTO_PAGES
        if self.scroll_y < self.size.height and not self._oldest_reached and may_read:
            self._paging = True
            self._load_older()
        elif not self._live and self.scroll_y > self.rows.height - 2 * self.size.height:
            self._paging = True
            self._load_newer()

    def _page_and_report(self) -> None:
        self._page_if_near()
        self._update_progress()

    def _heights_settled(self) -> None:
        self._page_and_report()
