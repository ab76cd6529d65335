"""Work on inputs of megabytes: done in a thread, one at a time, while whoever sends less waits in the queue at most."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from quarterdeck.core.engine.messages import Heard, Input
from quarterdeck.core.model.state import Session, State

T = TypeVar("T")


class HeavyWork:
    """The one thread that may have the log while the event loop goes on."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._running: Callable[[], None] | None = None
        self._after: list[Callable[[], None]] = []
        self._sessions: set[str] = set()

    @property
    def is_busy(self) -> bool:
        """Whether something is at work: nobody else may touch the log then."""
        return self._running is not None

    @property
    def is_heavy(self) -> bool:
        """Whether a session holds something large, which is written again with whatever changes it."""
        return bool(self._sessions)

    def takes(self, heavy: Iterable[Input]) -> bool:
        """Note who says something large; whether the batch belongs into the thread."""
        self._sessions.update(told.event.session_id for told in heavy if isinstance(told, Heard))
        return bool(self._sessions)

    def forget_light(self, state: State) -> None:
        """Forget the sessions that hold nothing any more."""
        if self._sessions:
            self._sessions = {s for s in self._sessions if _holds_something(state.sessions.get(s))}

    def begin(self, work: Callable[[], T], finish: Callable[[Callable[[], T]], None]) -> None:
        """Do the work in the thread, then finish on the event loop with what gives or raises its result."""
        self._pool = self._pool or ThreadPoolExecutor(1, "heavy")
        future = self._pool.submit(work)
        loop = asyncio.get_running_loop()

        def done() -> None:
            if self._running is done:
                self._running = None
                try:
                    finish(future.result)
                finally:
                    self._go_on()

        self._running = done
        future.add_done_callback(lambda _: _call_soon(loop, done))

    def afterwards(self, call: Callable[[], None]) -> None:
        """Call this when what is at work has been finished."""
        self._after.append(call)

    def end(self) -> None:
        """Wait for what is at work, and finish it."""
        while self._running is not None:
            self._running()

    def _go_on(self) -> None:
        waiting, self._after = self._after, []
        for call in waiting:
            if self.is_busy:
                self._after.append(call)
            else:
                call()


def _holds_something(session: Session | None) -> bool:
    return session is not None and bool(session.open_tools or session.waiting or session.sent)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """A loop that has ended was stopped, which has finished the work itself."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
