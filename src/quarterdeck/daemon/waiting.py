"""Clocks and process files of held requests: deadlines that no clock step moves, dialogs answered at the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.commands import Deadline, HolderGone, Input, ProcessSeen, Unattended
from quarterdeck.core.state import Request
from quarterdeck.daemon.processes import Process, alive, read_processes

POLL_SECONDS = 0.25
SLACK_SECONDS = 2.0
FOLLOW_SECONDS = 10.0


class Watched(Struct):
    """A held request. `since` is how old a process file's word may be to speak of its dialog."""

    request_id: str
    session_id: str
    agent_id: str | None
    since: float
    timer: asyncio.TimerHandle
    pid: int = 0
    waited: bool = False
    left: int = 0


class Waiting:
    """Knows every held request. `tell` is set by the loop, `attended` by the daemon."""

    def __init__(self, sessions_dir: Path) -> None:
        self.tell: Callable[[Input], None] = lambda told: None
        self.attended: Callable[[], bool] = lambda: True
        self._dir = sessions_dir
        self._watched: dict[str, Watched] = {}
        self._followed: dict[str, float] = {}
        self._closed: dict[str, float] = {}
        self._was_attended = True
        self._poll: asyncio.TimerHandle | None = None
        self._comparing: asyncio.Task[None] | None = None

    def watch(self, request: Request, seconds: float, pid: int = 0) -> None:
        """Send a Deadline after so many seconds, and close the card when the terminal answers first or the agent
        (`pid`, where it is known) has died."""
        self.forget(request.request_id)
        timer = asyncio.get_running_loop().call_later(seconds, self._expired, request.request_id)
        since = request.opened_at - SLACK_SECONDS
        if request.agent_id is not None:
            since = max(since, self._closed.get(request.session_id, 0.0))
        self._watched[request.request_id] = Watched(
            request.request_id, request.session_id, request.agent_id, since, timer, pid
        )
        self._look_soon()

    def forget(self, request_id: str) -> None:
        """The request is over."""
        watched = self._watched.pop(request_id, None)
        if watched is None:
            return
        watched.timer.cancel()
        self._closed[watched.session_id] = time.time()
        for other in self._watched.values():
            if other.session_id == watched.session_id and other.agent_id is not None:
                other.since = max(other.since, time.time())
        if not any(w.session_id == watched.session_id for w in self._watched.values()):
            del self._closed[watched.session_id]

    def follow(self, session_id: str) -> None:
        """The agent left without a word: for a while its process file says what it does now."""
        self._followed[session_id] = time.monotonic() + FOLLOW_SECONDS
        self._look_soon()

    def close(self) -> None:
        """No more clocks."""
        for request_id in list(self._watched):
            self.forget(request_id)
        self._followed.clear()
        if self._poll is not None:
            self._poll.cancel()
        if self._comparing is not None:
            self._comparing.cancel()

    def _expired(self, request_id: str) -> None:
        self.tell(Deadline(request_id=request_id, at=time.time()))

    def _look_soon(self) -> None:
        if self._poll is None:
            self._poll = asyncio.get_running_loop().call_later(POLL_SECONDS, self._look)

    def _look(self) -> None:
        self._poll = None
        self._followed = {s: until for s, until in self._followed.items() if until > time.monotonic()}
        if not self._watched and not self._followed:
            return
        attended = self.attended()
        if self._was_attended and not attended:
            self.tell(Unattended(at=time.time()))
        self._was_attended = attended
        if self._comparing is None or self._comparing.done():
            self._comparing = asyncio.get_running_loop().create_task(self._compare())
        self._look_soon()

    async def _compare(self) -> None:
        wanted = {w.session_id for w in self._watched.values()} | set(self._followed)
        processes = await asyncio.to_thread(read_processes, self._dir, wanted)
        for watched in list(self._watched.values()):
            if watched.pid and not alive(watched.pid):
                self.tell(HolderGone(request_id=watched.request_id, at=time.time()))
        for session_id, process in processes.items():
            self._heard_of(session_id, process)

    def _heard_of(self, session_id: str, process: Process) -> None:
        held = [w for w in self._watched.values() if w.session_id == session_id]
        answered = answered_at_the_terminal(held, process)
        if answered or (session_id in self._followed and process.status == "idle"):
            self._followed.pop(session_id, None)
            seen = ProcessSeen(
                session_id=session_id,
                status=process.status,
                at=time.time(),
                answered=tuple(answered),
                waiting_for=process.waiting_for,
                pid=process.pid,
            )
            self.tell(seen)


def answered_at_the_terminal(held: list[Watched], process: Process) -> list[str]:
    """The requests of one session whose dialog was on screen and is gone: seen waiting since they were asked, and
    then twice not waiting. A file that never says waiting proves nothing.

    A dialog is the main agent's while that one asks; only when it does not, it is a sub-agent's, and of which one is
    known only when a single one asks.
    """
    own = [w for w in held if w.agent_id is None] or (held if len(held) == 1 else [])
    for watched in own:
        if process.status == "waiting":
            watched.left = 0
            watched.waited = watched.waited or process.changed_at >= watched.since
        elif watched.waited:
            watched.left += 1
    return [w.request_id for w in own if w.left >= 2]
