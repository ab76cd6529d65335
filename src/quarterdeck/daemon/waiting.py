"""Clocks and process files of held requests: deadlines that no clock step moves, dialogs answered at the terminal."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.commands import Deadline, HolderGone, Input, ProcessSeen
from quarterdeck.core.state import Request

POLL_SECONDS = 0.25
SLACK_SECONDS = 2.0
MAX_FILE = 64 * 1024


class Process(Struct, frozen=True):
    """What Claude Code's own sessions file says of a session."""

    session_id: str
    pid: int
    status: str
    waiting_for: str | None
    changed_at: float


class _Watched(Struct):
    request_id: str
    session_id: str
    opened_at: float
    timer: asyncio.TimerHandle
    pid: int = 0
    waited: bool = False
    left: int = 0


class Waiting:
    """Knows every held request. `tell` is set by the loop."""

    def __init__(self, sessions_dir: Path) -> None:
        self._dir = sessions_dir
        self._watched: dict[str, _Watched] = {}
        self._poll: asyncio.TimerHandle | None = None
        self._polling: asyncio.Task[None] | None = None
        self.tell: Callable[[Input], None] = lambda told: None

    def watch(self, request: Request, seconds: float, pid: int = 0) -> None:
        """Send a Deadline after so many seconds, and close the card when the terminal answers first or the agent
        (`pid`, where it is known) has died."""
        self.forget(request.request_id)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds, self._expired, request.request_id)
        watched = _Watched(request.request_id, request.session_id, request.opened_at, timer, pid)
        self._watched[request.request_id] = watched
        if self._poll is None:
            self._poll = loop.call_later(POLL_SECONDS, self._look)

    def forget(self, request_id: str) -> None:
        watched = self._watched.pop(request_id, None)
        if watched is not None:
            watched.timer.cancel()
        if not self._watched and self._poll is not None:
            self._poll.cancel()
            self._poll = None

    def close(self) -> None:
        """No more clocks."""
        for request_id in list(self._watched):
            self.forget(request_id)

    def _expired(self, request_id: str) -> None:
        self.tell(Deadline(request_id=request_id, at=time.time()))

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._polling = loop.create_task(self._compare())
        self._poll = loop.call_later(POLL_SECONDS, self._look)

    async def _compare(self) -> None:
        wanted = {w.session_id for w in self._watched.values()}
        processes = await asyncio.to_thread(read_processes, self._dir, wanted)
        answered: dict[str, Process] = {}
        for watched in list(self._watched.values()):
            if watched.pid and not _alive(watched.pid):
                self.tell(HolderGone(request_id=watched.request_id, at=time.time()))
                continue
            process = processes.get(watched.session_id)
            if process is not None and dialog_closed(watched, process):
                answered[watched.session_id] = process
        for session_id, process in answered.items():
            seen = ProcessSeen(
                session_id=session_id,
                status=process.status,
                at=time.time(),
                answered=True,
                waiting_for=process.waiting_for,
                pid=process.pid,
            )
            self.tell(seen)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def dialog_closed(watched: _Watched, process: Process) -> bool:
    """Whether the dialog of this request was on screen and is gone: seen waiting since it was asked, and then
    twice not waiting. A file that never says waiting proves nothing."""
    if process.status == "waiting":
        watched.left = 0
        watched.waited = watched.waited or process.changed_at >= watched.opened_at - SLACK_SECONDS
        return False
    if watched.waited:
        watched.left += 1
    return watched.left >= 2


def read_processes(folder: Path, wanted: set[str]) -> dict[str, Process]:
    """The wanted sessions by id, from the `<pid>.json` files alone; their siblings hold secrets."""
    found: dict[str, Process] = {}
    try:
        files = [f for f in folder.iterdir() if f.suffix == ".json" and f.stem.isdigit()]
    except OSError:
        return found
    for file in files:
        process = _read_process(file)
        if process is not None and process.session_id in wanted:
            found[process.session_id] = process
    return found


def _read_process(file: Path) -> Process | None:
    try:
        if file.is_symlink() or file.stat().st_size > MAX_FILE:
            return None
        content = json.loads(file.read_bytes())
        return Process(
            session_id=str(content["sessionId"]),
            pid=int(content["pid"]),
            status=str(content.get("status", "")),
            waiting_for=content.get("waitingFor"),
            changed_at=float(content.get("statusUpdatedAt", 0)) / 1000,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
