"""The feed as a widget: a cursor, opening in place, searching and jumping, by keys and by mouse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from textual import events, work
from textual.binding import Binding

from quarterdeck.surfaces.tui.feed.canvas import SLICE_SECONDS, OpenedEvent
from quarterdeck.surfaces.tui.feed.details import STEPS, clipboard_text, detail_lines, missing_row, shown_lines
from quarterdeck.surfaces.tui.feed.log_reader import FeedReader, SearchTarget
from quarterdeck.surfaces.tui.feed.rows.feed_row import FeedRow
from quarterdeck.surfaces.tui.feed.rows.filter import FeedFilter
from quarterdeck.surfaces.tui.feed.rows.jump import JUMP_KINDS, RowTest, contains, of_kind, shown_matches
from quarterdeck.surfaces.tui.feed.rows.preview import unpacked
from quarterdeck.surfaces.tui.feed.rows.row_lines import row_lines
from quarterdeck.surfaces.tui.feed.source import Event, weight
from quarterdeck.surfaces.tui.feed.styles import CSS, ROLES

LARGE_EVENT = 50_000
"""Characters from which on an event's lines are made in a thread."""
MAX_LOG_QUERIES = 10
"""Queries of one search: when an event the daemon finds is not shown, it is asked for the next one."""


class FeedView(FeedReader, can_focus=True):
    """A window of the log. `append` gives it new events; it reads older ones from its source."""

    DEFAULT_CSS = CSS
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"feed--{role}" for role in ROLES}
    BINDINGS = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("home,g", "start", "start", show=False),
        Binding("end,G", "end", "follow", show=False),
        Binding("enter,space", "open", "expand"),
        Binding("o", "raw", "raw JSON", show=False),
        Binding("m", "more", "more", show=False),
        Binding("v", "stored", "all stored events, or rows again", show=False),
        Binding("z", "fold", "fold agent", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("n", "match(-1)", "next match", show=False),
        Binding("N", "match(1)", "previous match", show=False),
        Binding("left_curly_bracket", "jump('prompt',-1)", "prompt above", show=False),
        Binding("right_curly_bracket", "jump('prompt',1)", "prompt below", show=False),
        Binding("left_square_bracket", "jump('decision',-1)", "decision above", show=False),
        Binding("right_square_bracket", "jump('decision',1)", "decision below", show=False),
        Binding("x", "jump('error',-1)", "error above", show=False),
        Binding("X", "jump('error',1)", "error below", show=False),
    ]

    def set_filter(self, feed_filter: FeedFilter) -> None:
        """Show only these events. The rows on screen change at once, the rest of the window in slices."""
        with self._keep_place():
            self.rows.reshape(feed_filter=feed_filter)
        self._auto_pages = 0
        self._start_settling()

    def search(self, text: str) -> None:
        """Highlight a text and go to the nearest event above that contains it, in the window or in the log."""
        self.term = text.strip()
        self.match_place = ""
        self._strips.clear()
        self.refresh()
        if self.term:
            self._find_match(-1, fresh=True)

    def stop(self) -> bool:
        """Stop a search, a jump or reading back. False if nothing was running."""
        if self._search_target is None:
            return self._pause_loading()
        words = self._search_target.text().replace(" …", " stopped at" if self._search_target.at else " stopped")
        self.workers.cancel_group(self, "feed-seek")
        self.post_message(self.Found(None, words))
        return True

    @contextmanager
    def _searching_for(self, label: str) -> Iterator[None]:
        """Show this search as running until the block ends."""
        self._search_target = target = SearchTarget(label)
        try:
            yield
        finally:
            if self._search_target is target:
                self._search_target = None
                self._update_progress()

    def _note_search_position(self, seq_no: int) -> None:
        if self._search_target is not None:
            self._search_target.at = seq_no
            self._update_progress()

    def toggle_expand(self) -> None:
        """Open or close the event under the cursor, in place."""
        seq_no = self._current()
        if seq_no is None:
            return
        actor = self.rows.actor_under(seq_no)
        if seq_no in self._opened:
            self._close(seq_no)
        elif actor is not None and not self.rows.subagents.groups[actor].opened:
            self.action_fold()
        else:
            self._opened[seq_no] = OpenedEvent()
            self._fill(seq_no)

    def copy_text(self) -> str:
        """The event under the cursor as text."""
        seq_no = self._current()
        row = None if seq_no is None else self.rows.row(seq_no)
        if row is None:
            return ""
        events = [event for part in row.parts if (event := self.source.cached(part.seq_no)) is not None]
        if len(events) < len(row.parts):
            return "\n".join(text for part in row.parts for text in unpacked(part.text)[:2] if text)
        return clipboard_text(events)

    def _current(self) -> int | None:
        """The row under the cursor; without a cursor the last one on screen."""
        if self.cursor is not None and self.rows.window.height_of(self.cursor):
            return self.cursor
        found = self.rows.window.at_line(min(int(self.scroll_y) + self.size.height, self.rows.height) - 1)
        return None if found is None else found[0]

    def _select(self, seq_no: int, show: bool = True) -> None:
        self.cursor = seq_no
        if show:
            self._scroll_to_row(seq_no)
        self.refresh()
        self._cache_event(seq_no)

    @work(exclusive=True, group="feed-selected")
    async def _cache_event(self, seq_no: int) -> None:
        """Fetch the event under the cursor, so that all of it can be copied."""
        row = self.rows.row(seq_no)
        if row is not None:
            await self._events_of(row)

    def _scroll_to_row(self, seq_no: int) -> None:
        top, height = self.rows.window.line_of(seq_no), max(self.rows.window.height_of(seq_no), 1)
        self._update_size()
        if top < self.scroll_y:
            self._scroll_to_line(top)
        elif top + height > self.scroll_y + self.size.height:
            self._scroll_to_line(top if height > self.size.height else top + height - self.size.height)

    @work(group="feed-fill")
    async def _fill(self, seq_no: int) -> None:
        """Make the lines of an opened event; fetch the event if it is not cached."""
        row = self.rows.row(seq_no)
        events = await self._events_of(row) if row is not None else []
        opened = self._opened.get(seq_no)
        if opened is None or row is None:
            return
        if not events:
            opened.lines = [missing_row(self._layout.left)]
        else:
            lines = detail_lines(events, self._causes(events[0]), raw=opened.raw)
            args = (lines, self._layout.width, self._layout.left, opened.step)
            heavy = opened.step > 0 or sum(weight(event["data"]) for event in events) > LARGE_EVENT
            opened.lines = await asyncio.to_thread(shown_lines, *args) if heavy else shown_lines(*args)
        with self._keep_place():
            self.rows.expand(seq_no, len(row_lines(row, self._layout)) + len(opened.lines))
        if self.cursor == seq_no:
            self._scroll_to_row(seq_no)

    async def _events_of(self, row: FeedRow) -> list[Event]:
        """The events of a row, as far as they are still in the log."""
        events = [await self.source.event(part.seq_no) for part in row.parts]
        return [event for event in events if event is not None]

    def _causes(self, event: Event) -> list[str]:
        """The events that led to this one, as far as they are cached."""
        causes: list[str] = []
        cause, before = event.get("cause") or {}, int(event["seq_no"])
        while len(causes) < 5 and cause.get("parent_event_id"):
            parent = self.rows.parent(str(cause["parent_event_id"]), before)
            found = None if parent is None else self.source.cached(parent)
            if found is None:
                break
            causes.append(f"#{parent} {found.get('title')}")
            cause, before = found.get("cause") or {}, int(found["seq_no"])
        return causes

    def _close(self, seq_no: int) -> None:
        self._opened.pop(seq_no, None)
        with self._keep_place():
            self.rows.expand(seq_no, None)

    def _refill_opened(self) -> None:
        for seq_no in list(self._opened):
            self._fill(seq_no)

    @work(exclusive=True, group="feed-seek")
    async def _find_match(self, step: int, fresh: bool = False) -> None:
        """Go to the nearest match. Both the window and the log are searched: rows keep only a part of each text, and
        the daemon finds every word."""
        term, start = self.term, self._start(step, fresh)
        with self._searching_for("searching"):
            near = await self._find_in_window(contains(term), start, step)
            far = await self._find_in_log(step, start, start, q=term)
            found = [seq_no for seq_no in (near, far) if seq_no is not None]
            await self._go_to_result((max if step < 0 else min)(found, default=None), f"nothing more with “{term}”")
            await self._count_matches(contains(term))

    @work(exclusive=True, group="feed-seek")
    async def jump(self, kind: str, step: int = -1) -> None:
        """Go to the next `error`, `decision`, `prompt` or `request` (default: upwards)."""
        start = self._start(step, False)
        with self._searching_for(f"looking for the next {kind}"):
            found = await self._find_in_window(of_kind(kind, self.rows), start, step)
            if found is None and kind in JUMP_KINDS and (step < 0 or not self._live):
                edge = self.rows.first if step < 0 else self.rows.last
                found = await self._find_in_log(step, start, edge, kind=list(JUMP_KINDS[kind]))
            await self._go_to_result(found, f"no {kind} {'above' if step < 0 else 'below'}")

    async def _count_matches(self, test: RowTest) -> None:
        """Tell which of the matches in the window the cursor is on, and how many there are."""
        heads: list[int] = []
        for head in shown_matches(self.rows, test):
            if head is None:
                await asyncio.sleep(0)
            else:
                heads.append(head)
        more = "" if self._oldest_reached else "+"
        self.match_place = f"{heads.index(self.cursor) + 1} of {len(heads)}{more}" if self.cursor in heads else ""

    def _start(self, step: int, fresh: bool) -> int:
        current = self._current()
        if current is None or (self.cursor is None and step < 0):
            return self.rows.last + 1
        return current + 1 if fresh else current

    async def _find_in_window(self, test: RowTest, start: int, step: int) -> int | None:
        """The next shown row of the window that passes the test; searched in slices, so that keys still act."""
        begun = time.perf_counter()
        for seq_no in self.rows.seek(test, start, step):
            if seq_no is not None:
                head = self.rows.head_of(seq_no)
                if head != start and self.rows.window.height_of(head):
                    return head
            if time.perf_counter() - begun > SLICE_SECONDS:
                self._note_search_position(start)
                await asyncio.sleep(0)
                begun = time.perf_counter()
        return None

    async def _find_in_log(self, step: int, start: int, edge: int, **query: Any) -> int | None:
        """The row of the next event beyond an edge that the daemon finds. Events that are not shown, or are in the row
        the search began from, are skipped, up to `MAX_LOG_QUERIES` times."""
        for _ in range(MAX_LOG_QUERIES):
            read = self.source.before if step < 0 else self.source.after
            self._note_search_position(edge)
            page = await self._page_or_none(read(edge, self.session_id, 1, **query))
            if page is None or not page.events:
                return None
            edge = page.events[-1]["seq_no"]
            head = self.rows.head_of(edge)
            if edge not in self.rows or (head != start and self.rows.window.height_of(head)):
                return head
        return None

    async def _go_to_result(self, seq_no: int | None, failure_text: str) -> None:
        if seq_no is not None and seq_no not in self.rows and not await self._open_around(seq_no):
            seq_no = None
        if seq_no is None:
            self.post_message(self.Found(None, failure_text))
            return
        head = self.rows.head_of(seq_no)
        self.rows.reveal(head)
        self.following = False
        self._select(head, show=False)
        self._update_size()
        self._scroll_to_line(self.rows.window.line_of(head) - self.size.height // 3)
        self.post_message(self.Found(head, ""))

    def action_move(self, step: int) -> None:
        current = self._current()
        if step < 0 and (current is None or self.rows.window.neighbour(current, -1) is None):
            self.resume_loading()
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
        if step < 0 and self.scroll_y <= 0:
            self.resume_loading()
        self._scroll_to_line(self.scroll_y + step * max(self.size.height - 2, 1))
        if self.cursor is not None:
            found = self.rows.window.at_line(int(self.scroll_y) + (0 if step < 0 else self.size.height - 1))
            if found is not None:
                self._select(found[0], show=False)

    def action_start(self) -> None:
        self.following = False
        self._scroll_to_line(0)
        self.resume_loading()

    def action_end(self) -> None:
        if self._live:
            self._to_end()
            self.refresh()
        else:
            self.follow(self.session_id)

    def action_open(self) -> None:
        self.toggle_expand()

    def action_raw(self) -> None:
        self._reopen(lambda opened: OpenedEvent(raw=not opened.raw))

    def action_more(self) -> None:
        self._reopen(lambda opened: OpenedEvent(raw=opened.raw, step=min(opened.step + 1, len(STEPS) - 1)))

    def _reopen(self, change: Callable[[OpenedEvent], OpenedEvent]) -> None:
        seq_no = self._current()
        if seq_no is not None:
            made = change(self._opened.get(seq_no, OpenedEvent()))
            made.lines = self._opened[seq_no].lines if seq_no in self._opened else None
            self._opened[seq_no] = made
            self._fill(seq_no)

    @work(exclusive=True, group="feed-window")
    async def action_stored(self) -> None:
        """Show every event as it is stored, or rows again, at the same place."""
        seq_no = None if self.following else self._current()
        self.stored = not self.stored
        if seq_no is None or not await self._open_around(seq_no):
            self.follow(self.session_id)
            return
        self.call_after_refresh(self._select, self.rows.head_of(seq_no))

    def action_fold(self) -> None:
        seq_no = self._current()
        actor = None if seq_no is None else self.rows.actor_under(seq_no)
        if actor is not None:
            with self._keep_place():
                self.rows.fold(actor, not self.rows.subagents.groups[actor].opened)
            self._start_settling()

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.copy_text())

    def action_match(self, step: int) -> None:
        if self.term:
            self._find_match(step)

    def action_jump(self, kind: str, step: int) -> None:
        self.jump(kind, step)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.x == self.size.width - 1:
            self.capture_mouse()
            self._drag(at.y)

    def on_mouse_scroll_up(self) -> None:
        if self.scroll_y <= 0:
            self.resume_loading()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._drag(event.get_content_offset_capture(self).y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def _drag(self, y: int) -> None:
        self._scroll_to_line(self.max_scroll_y * y / max(self.size.height - 1, 1))

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
        self.following = False  # a clicked row stays where it is
        self._select(found[0], show=False)
        if again:
            self.toggle_expand()
