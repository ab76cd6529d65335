"""Clocks and process files of held requests: deadlines that no clock step moves, dialogs answered at the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

from quarterdeck.core.engine.messages import Deadline, HolderGone, Input, ProcessSeen, StillWaiting, Unattended
from quarterdeck.core.model.state import Request
from quarterdeck.drivers.claude.session_files import Process, SessionsFolder
from quarterdeck.system.process_table import alive

POLL_SECONDS = 0.25
SLACK_SECONDS = 2.0


class Watched(Struct):
    """A held request. `since` is how old a process file's word may be to speak of its dialog, `began` when the wait
    began by a clock that nobody sets."""

    request_id: str
    session_id: str
    agent_id: str | None
    since: float
    timer: asyncio.TimerHandle
    pid: int = 0
    waited: bool = False
    left: int = 0
    began: float = 0.0
    look: asyncio.TimerHandle | None = None


class Waiting:
    """Knows every held request. `tell` is set by the loop, `attended` by the daemon; `zone` is where a day begins and
    ends, without it as this machine has it."""

    def __init__(self, folder: SessionsFolder, zone: ZoneInfo | None = None) -> None:
        self._zone = zone
        self.tell: Callable[[Input], None] = lambda told: None
        self.attended: Callable[[], bool] = lambda: True
        self._folder = folder
        self._watched: dict[str, Watched] = {}
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
            request.request_id,
            request.session_id,
            request.agent_id,
            since,
            timer,
            pid,
            began=asyncio.get_running_loop().time(),
        )
        self._look_soon()

    def look_after(self, request_id: str, seconds: float) -> None:
        """Send a StillWaiting after so many seconds."""
        watched = self._watched.get(request_id)
        if watched is not None:
            if watched.look is not None:
                watched.look.cancel()
            watched.look = asyncio.get_running_loop().call_later(seconds, self._still_waits, watched)

    def forget(self, request_id: str) -> None:
        """The request is over."""
        watched = self._watched.pop(request_id, None)
        if watched is None:
            return
        watched.timer.cancel()
        if watched.look is not None:
            watched.look.cancel()
        self._closed[watched.session_id] = time.time()
        for other in self._watched.values():
            if other.session_id == watched.session_id and other.agent_id is not None:
                other.since = max(other.since, time.time())
        if not any(w.session_id == watched.session_id for w in self._watched.values()):
            del self._closed[watched.session_id]

    def close(self) -> None:
        """No more clocks."""
        for request_id in list(self._watched):
            self.forget(request_id)
        if self._poll is not None:
            self._poll.cancel()
        if self._comparing is not None:
            self._comparing.cancel()

    def _expired(self, request_id: str) -> None:
        self.tell(Deadline(request_id=request_id, at=time.time()))

    def _still_waits(self, watched: Watched) -> None:
        waited = asyncio.get_running_loop().time() - watched.began
        minute = minute_of_day(time.time(), self._zone)
        self.tell(StillWaiting(request_id=watched.request_id, waited=waited, minute=minute, at=time.time()))

    def _look_soon(self) -> None:
        if self._poll is None:
            self._poll = asyncio.get_running_loop().call_later(POLL_SECONDS, self._look)

    def _look(self) -> None:
        self._poll = None
        if not self._watched:
            return
        attended = self.attended()
        if self._was_attended and not attended:
            self.tell(Unattended(at=time.time()))
        self._was_attended = attended
        if self._comparing is None or self._comparing.done():
            self._comparing = asyncio.get_running_loop().create_task(self._compare())
        self._look_soon()

    async def _compare(self) -> None:
        processes = await asyncio.to_thread(self._folder.read)
        asking = {watched.session_id for watched in self._watched.values()}
        for watched in list(self._watched.values()):
            if watched.pid and not alive(watched.pid):
                self.tell(HolderGone(request_id=watched.request_id, at=time.time()))
        for process in processes:
            if process.session_id in asking:
                self._heard_of(process)

    def _heard_of(self, process: Process) -> None:
        held = [w for w in self._watched.values() if w.session_id == process.session_id]
        answered = answered_at_the_terminal(held, process)
        runs = self._folder.identity(process) if answered else None
        if runs is not None:
            seen = ProcessSeen(
                session_id=process.session_id,
                status=process.status,
                waiting_for=process.waiting_for,
                process=runs,
                changed_at=process.changed_at,
                answered=tuple(answered),
                at=time.time(),
            )
            self.tell(seen)


def minute_of_day(at: float, zone: ZoneInfo | None) -> int:
    """How many minutes of the local day have passed: in this zone, or where this machine is set to be by now."""
    if zone is None:
        time.tzset()
    local = datetime.fromtimestamp(at, zone)
    return local.hour * 60 + local.minute


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
