"""Timers and process files of held requests: deadlines that no clock step moves, dialogs answered in the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.engine.messages import Deadline, Input, ProcessSeen, StillWaiting, Unattended, WaiterGone
from quarterdeck.core.handlers.processes import AgentDialog, dialogs_after
from quarterdeck.core.model.state import Request
from quarterdeck.drivers.base import SessionFiles, SessionProcess
from quarterdeck.system.process_table import alive

# A dead agent, or a dialog answered in its terminal, must be gone from every surface within a second.
POLL_SECONDS = 0.25
# An agent may write its status shortly before its hook arrives, and the file system rounds times.
SLACK_SECONDS = 2.0


class WatchedRequest(Struct):
    """A held request with the dialog that its agent may show. `began`: monotonic time at which the wait began."""

    request_id: str
    session_id: str
    dialog: AgentDialog
    timer: asyncio.TimerHandle
    began: float
    pid: int = 0
    check_timer: asyncio.TimerHandle | None = None


class Deadlines:
    """Watches every held request. The loop sets `submit`, the daemon sets `attended`. `zone` is where a day begins and
    ends; None: this machine's own."""

    def __init__(self, files: SessionFiles, zone: ZoneInfo | None = None) -> None:
        self._zone = zone
        self.submit: Callable[[Input], None] = lambda input: None
        self.attended: Callable[[], bool] = lambda: True
        self._files = files
        self._watched: dict[str, WatchedRequest] = {}
        self._closed: dict[str, float] = {}
        self._was_attended = True
        self._kept_until = float("-inf")
        self._poll_timer: asyncio.TimerHandle | None = None
        self._comparing: asyncio.Task[None] | None = None

    def watch(self, request: Request, seconds: float, pid: int = 0) -> None:
        """Send a Deadline after this many seconds. Close the request sooner when it is answered in the terminal, or
        when its agent (`pid`, where known) has died."""
        self.forget(request.request_id)
        timer = asyncio.get_running_loop().call_later(seconds, self._expired, request.request_id)
        since = request.opened_at - SLACK_SECONDS
        if request.agent_id is not None:
            since = max(since, self._closed.get(request.session_id, 0.0))
        self._watched[request.request_id] = WatchedRequest(
            request.request_id,
            request.session_id,
            AgentDialog(request_id=request.request_id, agent_id=request.agent_id, since=since),
            timer,
            began=asyncio.get_running_loop().time(),
            pid=pid,
        )
        self._poll_soon()

    def expect(self, request: Request, seconds: float, is_away: Callable[[str], bool]) -> None:
        """Give the agent of a request so long to come back after a restart. Nothing is released for want of a person
        meanwhile: surfaces need a moment to come back, too."""
        loop = asyncio.get_running_loop()
        self._kept_until = loop.time() + seconds
        watched = self._watched[request.request_id]
        watched.dialog = replace(watched.dialog, since=request.opened_at, is_resumed=True)

        def give_up() -> None:
            if self._watched.get(request.request_id) is watched and is_away(request.request_id):
                self.submit(WaiterGone(request_id=request.request_id, at=time.time(), is_lost=True))

        loop.call_later(seconds, give_up)

    def check_after(self, request_id: str, seconds: float) -> None:
        """Send a StillWaiting after this many seconds."""
        watched = self._watched.get(request_id)
        if watched is not None:
            if watched.check_timer is not None:
                watched.check_timer.cancel()
            watched.check_timer = asyncio.get_running_loop().call_later(seconds, self._still_waits, watched)

    def forget(self, request_id: str) -> None:
        """Stop watching a request that is over."""
        watched = self._watched.pop(request_id, None)
        if watched is None:
            return
        watched.timer.cancel()
        if watched.check_timer is not None:
            watched.check_timer.cancel()
        self._closed[watched.session_id] = time.time()
        for other in self._watched.values():
            if other.session_id == watched.session_id and other.dialog.agent_id is not None:
                other.dialog = replace(other.dialog, since=max(other.dialog.since, time.time()))
        if not any(w.session_id == watched.session_id for w in self._watched.values()):
            del self._closed[watched.session_id]

    def close(self) -> None:
        """Cancel every timer."""
        for request_id in list(self._watched):
            self.forget(request_id)
        if self._poll_timer is not None:
            self._poll_timer.cancel()
        if self._comparing is not None:
            self._comparing.cancel()

    def _expired(self, request_id: str) -> None:
        self.submit(Deadline(request_id=request_id, at=time.time()))

    def _still_waits(self, watched: WatchedRequest) -> None:
        waited = asyncio.get_running_loop().time() - watched.began
        minute = minute_of_day(time.time(), self._zone)
        self.submit(StillWaiting(request_id=watched.request_id, waited=waited, minute=minute, at=time.time()))

    def _poll_soon(self) -> None:
        if self._poll_timer is None:
            self._poll_timer = asyncio.get_running_loop().call_later(POLL_SECONDS, self._poll_now)

    def _poll_now(self) -> None:
        self._poll_timer = None
        if not self._watched:
            return
        attended = self.attended() or asyncio.get_running_loop().time() < self._kept_until
        if self._was_attended and not attended:
            self.submit(Unattended(at=time.time()))
        self._was_attended = attended
        if self._comparing is None or self._comparing.done():
            self._comparing = asyncio.get_running_loop().create_task(self._compare())
        self._poll_soon()

    async def _compare(self) -> None:
        processes = await asyncio.to_thread(self._files.read)
        session_ids = {watched.session_id for watched in self._watched.values()}
        for watched in list(self._watched.values()):
            if watched.pid and not alive(watched.pid):
                self.submit(WaiterGone(request_id=watched.request_id, at=time.time()))
        for process in processes:
            if process.session_id in session_ids:
                self._close_answered(process)

    def _close_answered(self, process: SessionProcess) -> None:
        watched = [w for w in self._watched.values() if w.session_id == process.session_id]
        dialogs = dialogs_after([w.dialog for w in watched], process.status, process.changed_at)
        for request, dialog in zip(watched, dialogs, strict=True):
            request.dialog = dialog
        answered = [dialog.request_id for dialog in dialogs if dialog.is_answered]
        process_id = self._files.identity(process) if answered else None
        if process_id is not None:
            seen = ProcessSeen(
                session_id=process.session_id,
                status=process.status,
                waiting_for=process.waiting_for,
                process=process_id,
                changed_at=process.changed_at,
                answered=tuple(answered),
                at=time.time(),
            )
            self.submit(seen)


def minute_of_day(at: float, zone: ZoneInfo | None) -> int:
    """Minutes since midnight in this zone, or in the machine's own zone as it is set now."""
    if zone is None:
        time.tzset()
    local = datetime.fromtimestamp(at, zone)
    return local.hour * 60 + local.minute
