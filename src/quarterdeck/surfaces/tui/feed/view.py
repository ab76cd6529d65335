"""The feed as a widget: a cursor, opening in place, searching and jumping, by keys and by mouse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.message import Message

from quarterdeck.surfaces.tui.feed.canvas import SLICE_SECONDS, Opened
from quarterdeck.surfaces.tui.feed.details import STEPS, copied, detail_lines, shown_lines
from quarterdeck.surfaces.tui.feed.reader import FeedReader, Sought
from quarterdeck.surfaces.tui.feed.rows import jump as seeking
from quarterdeck.surfaces.tui.feed.rows.filter import Wanted
from quarterdeck.surfaces.tui.feed.rows.preview import kept
from quarterdeck.surfaces.tui.feed.rows.row_lines import row_lines
from quarterdeck.surfaces.tui.feed.source import Event, weight
from quarterdeck.surfaces.tui.feed.styles import CSS, ROLES

HEAVY = 50_000
"""Characters from which on an event is made readable in a thread."""

ASKED = 10
"""How often the daemon is asked for a further event when what it finds is not shown."""


class FeedView(FeedReader, can_focus=True):
    """A window of the log. Give it events with `append`; it asks its source for what is older or out of sight."""

    DEFAULT_CSS = CSS
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"feed--{role}" for role in ROLES}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "page up", show=False),
        Binding("pagedown,ctrl+f", "page(1)", "page down", show=False),
        Binding("home,g", "start", "start", show=False),
        Binding("end,G", "end", "follow", show=False),
        Binding("enter,space", "open", "expand"),
        Binding("o", "raw", "raw JSON", show=False),
        Binding("m", "more", "more", show=False),
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

    class Selected(Message):
        """Another event is under the cursor."""

        def __init__(self, event: Event) -> None:
            super().__init__()
            self.event = event

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

    def stop(self) -> bool:
        """End what is under way: a search, a jump, looking back. Whether anything was."""
        if self._sought is None:
            return self._pause()
        words = self._sought.words().replace(" …", " stopped at" if self._sought.at else " stopped")
        self.workers.cancel_group(self, "feed-seek")
        self.post_message(self.Found(None, words))
        return True

    @contextmanager
    def _seeking(self, what: str) -> Iterator[None]:
        """Something is looked for meanwhile."""
        self._sought = mine = Sought(what)
        try:
            yield
        finally:
            if self._sought is mine:
                self._sought = None
                self._tell()

    def _seeks_at(self, seq_no: int) -> None:
        if self._sought is not None:
            self._sought.at = seq_no
            self._tell()

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
            below = row.below if row.partner else ""
            return "\n".join(part for part in (*kept(row.text)[:2], row.after, below) if part)
        return copied(event, self.source.held(row.partner) if row.partner else None)

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

    def _refill(self) -> None:
        for seq_no in list(self._opened):
            self._fill(seq_no)

    @work(exclusive=True, group="feed-seek")
    async def _seek_match(self, step: int, fresh: bool = False) -> None:
        """The nearest row that holds the text, or whose event does: rows keep little, the daemon knows every word."""
        term, start = self.term, self._start(step, fresh)
        with self._seeking("searching"):
            near = await self._walk(seeking.holds(term), start, step)
            far = await self._ask_log(step, start, start, q=term)
            found = [seq_no for seq_no in (near, far) if seq_no is not None]
            await self._arrive((max if step < 0 else min)(found, default=None), f"nothing more with “{term}”")

    @work(exclusive=True, group="feed-seek")
    async def _seek_kind(self, kind: str, step: int) -> None:
        start = self._start(step, False)
        with self._seeking(f"looking for the next {kind}"):
            found = await self._walk(seeking.is_a(kind, self.rows), start, step)
            if found is None and kind in seeking.KINDS and (step < 0 or not self._live):
                edge = self.rows.first if step < 0 else self.rows.last
                found = await self._ask_log(step, start, edge, kind=list(seeking.KINDS[kind]))
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
                self._seeks_at(start)
                await asyncio.sleep(0)
                begun = time.perf_counter()
        return None

    async def _ask_log(self, step: int, start: int, edge: int, **query: Any) -> int | None:
        """The next event beyond an edge that the daemon finds, as the row that shows it; one that is not shown or is
        where we are is passed over, for a while."""
        for _ in range(ASKED):
            read = self.source.before if step < 0 else self.source.after
            self._seeks_at(edge)
            page = await self._asked(read(edge, self.session_id, 1, **query))
            if page is None or not page.events:
                return None
            edge = page.events[-1]["seq_no"]
            head = self.rows.shown_as(edge)
            if edge not in self.rows or (head != start and self.rows.window.height_of(head)):
                return head
        return None

    async def _arrive(self, seq_no: int | None, nothing: str) -> None:
        if seq_no is not None and seq_no not in self.rows and not await self._open_around(seq_no):
            seq_no = None
        if seq_no is None:
            self.post_message(self.Found(None, nothing))
            return
        head = self.rows.shown_as(seq_no)
        self.rows.reveal(head)
        self.following = False
        self._select(head, show=False)
        self._resized()
        self._put(self.rows.window.line_of(head) - self.size.height // 3)
        self.post_message(self.Found(head, ""))

    def action_move(self, step: int) -> None:
        current = self._current()
        if step < 0 and (current is None or self.rows.window.neighbour(current, -1) is None):
            self.look_further()
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
            self.look_further()
        self._put(self.scroll_y + step * max(self.size.height - 2, 1))
        if self.cursor is not None:
            found = self.rows.window.at_line(int(self.scroll_y) + (0 if step < 0 else self.size.height - 1))
            if found is not None:
                self._select(found[0], show=False)

    def action_start(self) -> None:
        self.following = False
        self._put(0)
        self.look_further()

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

    def on_mouse_scroll_up(self) -> None:
        if self.scroll_y <= 0:
            self.look_further()

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
        self.following = False  # what is pointed at stays where it is
        self._select(found[0], show=False)
        if again:
            self.toggle_expand()
