"""Follows the process of each live session and reports events that no hook sends: an interrupt, a kill, a lost end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import structlog
from msgspec import Struct

from quarterdeck.core.engine.messages import Input, ProcessGone, ProcessSeen, TimePassed
from quarterdeck.core.handlers.processes import has_changes
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.drivers.base import SessionFiles, SessionProcess
from quarterdeck.system.process_table import runs

# There is no notice of a change of these files that all systems have, and a read of unchanged ones is cheap.
POLL_SECONDS = 0.5
AGE_SECONDS = 60.0
POLLS_UNTIL_GONE = 2
"""Consecutive polls without the process before its session counts as ended: a session that ends reports that itself, a
moment before."""

POLLS_UNTIL_MOVED = 6
"""Consecutive polls that must show the process with another session: after `/clear` a hook reports that too, a moment
later."""

logger = structlog.get_logger("processes")


class ProcessScan(Struct, frozen=True):
    """One scan: the process of each session, and the sessions whose process is gone or runs another one."""

    running: dict[str, tuple[ProcessId, SessionProcess]]
    gone: frozenset[str]
    moved: frozenset[str]


class ProcessMonitor:
    """Polls the processes of live sessions. `sessions` gives those, `submit` puts an input in the queue."""

    def __init__(
        self, files: SessionFiles, sessions: Callable[[], Mapping[str, Session]], submit: Callable[[Input], None]
    ) -> None:
        self._files = files
        self._sessions = sessions
        self._submit = submit
        self._missed: dict[tuple[str, ProcessId], int] = {}

    async def follow(self) -> None:
        """Poll until cancelled; a poll that fails is logged and the next one tried."""
        aged_at = float("-inf")
        while True:
            if self._sessions():
                try:
                    await self.poll()
                except OSError as error:
                    logger.warning("the process table could not be read", error=str(error))
                if time.monotonic() - aged_at >= AGE_SECONDS:
                    aged_at = time.monotonic()
                    self._submit(TimePassed(at=time.time()))
            await asyncio.sleep(POLL_SECONDS)

    async def poll(self) -> None:
        """Compare every live session with its process once."""
        known = {session_id: session.process for session_id, session in self._sessions().items()}
        seen = await asyncio.to_thread(scan_processes, self._files, known)
        for session_id, (process, process_file) in seen.running.items():
            self._report_seen(session_id, process, process_file)
        self._report_missing(known, seen)

    def _report_seen(self, session_id: str, process: ProcessId, process_file: SessionProcess) -> None:
        session = self._sessions().get(session_id)
        event = ProcessSeen(
            session_id=session_id,
            status=process_file.status,
            waiting_for=process_file.waiting_for,
            process=process,
            changed_at=process_file.changed_at,
            at=time.time(),
        )
        if session is not None and has_changes(session, event):
            self._submit(event)

    def _report_missing(self, known: Mapping[str, ProcessId | None], seen: ProcessScan) -> None:
        missed: dict[tuple[str, ProcessId], int] = {}
        for session_id in seen.gone | seen.moved:
            process = known[session_id]
            assert process is not None
            count = missed[session_id, process] = self._missed.get((session_id, process), 0) + 1
            if session_id in seen.gone and count >= POLLS_UNTIL_GONE:
                self._submit(ProcessGone(session_id=session_id, process=process, at=time.time()))
            elif session_id in seen.moved and count >= POLLS_UNTIL_MOVED:
                event = ProcessGone(session_id=session_id, process=process, at=time.time(), reason="process_moved_on")
                self._submit(event)
        self._missed = missed


def scan_processes(folder: SessionFiles, known: Mapping[str, ProcessId | None]) -> ProcessScan:
    """Find the processes of these sessions in the process files and the process table."""
    files = folder.read()
    named: dict[str, list[SessionProcess]] = {}
    for process_file in files:
        if process_file.session_id in known:
            named.setdefault(process_file.session_id, []).append(process_file)
    running = {}
    for session_id, claims in named.items():
        found = _session_process(folder, claims, known[session_id])
        if found is not None:
            running[session_id] = found
    lost = {s: process for s, process in known.items() if process is not None and s not in running}
    gone = frozenset(s for s, process in lost.items() if not runs(process))
    others = {process_file.pid for process_file in files}
    moved = frozenset(s for s, process in lost.items() if s not in gone and process.pid in others)
    return ProcessScan(running, gone, moved)


def _session_process(
    folder: SessionFiles, claims: Iterable[SessionProcess], known: ProcessId | None
) -> tuple[ProcessId, SessionProcess] | None:
    """The process that runs a session: the known one, else the one whose file changed last."""
    alive = [
        (process, process_file) for process_file in claims if (process := folder.identity(process_file)) is not None
    ]
    alive.sort(key=lambda found: (found[0] == known, found[1].changed_at))
    return alive[-1] if alive else None
