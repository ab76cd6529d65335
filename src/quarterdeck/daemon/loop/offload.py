"""Offloads multi-megabyte inputs to one worker thread; small inputs at most wait in the queue."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from quarterdeck.core.engine.messages import HookReceived, Input
from quarterdeck.core.model.state import Session, State

T = TypeVar("T")


class Offload:
    """The one thread that may use the log while the event loop goes on."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._running: Callable[[], None] | None = None
        self._after: list[Callable[[], None]] = []
        self._sessions: set[str] = set()

    @property
    def is_busy(self) -> bool:
        """True if the thread is at work: nothing else may touch the log then."""
        return self._running is not None

    @property
    def is_heavy(self) -> bool:
        """True if a session holds something large, which is written again with each of its changes."""
        return bool(self._sessions)

    def needs_thread(self, heavy: Iterable[Input]) -> bool:
        """Remember the sessions of these heavy inputs. True when the batch belongs in the thread."""
        self._sessions.update(input.event.session_id for input in heavy if isinstance(input, HookReceived))
        return bool(self._sessions)

    def forget_light(self, state: State) -> None:
        """Forget the sessions that no longer hold anything large."""
        if self._sessions:
            self._sessions = {s for s in self._sessions if _holds_something(state.sessions.get(s))}

    def run(self, work: Callable[[], T], finish: Callable[[Callable[[], T]], None]) -> None:
        """Do the work in the thread, then call `finish` on the event loop with a function that returns or raises its
        result."""
        self._pool = self._pool or ThreadPoolExecutor(1, "heavy")
        future = self._pool.submit(work)
        loop = asyncio.get_running_loop()

        def done() -> None:
            if self._running is done:
                self._running = None
                try:
                    finish(future.result)
                finally:
                    self._run_waiting()

        self._running = done
        future.add_done_callback(lambda _: _call_soon(loop, done))

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call this when the present work is finished."""
        self._after.append(call)

    def finish(self) -> None:
        """Wait for the present work and finish it."""
        while self._running is not None:
            self._running()

    def _run_waiting(self) -> None:
        calls, self._after = self._after, []
        for call in calls:
            if self.is_busy:
                self._after.append(call)
            else:
                call()


def _holds_something(session: Session | None) -> bool:
    return session is not None and bool(session.open_tools or session.waiting or session.sent)


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call on a loop that may have ended: then `finish` has done the work."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
