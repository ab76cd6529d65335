"""Process truth: follows who runs each live session, and tells what hooks cannot: an interrupt, a kill, a lost end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping

import structlog
from msgspec import Struct

from quarterdeck.core.engine.messages import Input, ProcessGone, ProcessSeen, TimePassed
from quarterdeck.core.handlers.processes import is_news
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.drivers.claude.session_files import Process, SessionsFolder
from quarterdeck.system.process_table import runs

LOOK_SECONDS = 0.5
AGE_SECONDS = 60.0
GONE_LOOKS = 2
"""How often a process must be missed: a session that ends says so itself, a moment before."""

MOVED_LOOKS = 6
"""How often a process must be seen with another session: `/clear` tells us too, a moment later."""

logger = structlog.get_logger("truth")


class Seen(Struct, frozen=True):
    """One look: what runs each session, and whose process is gone or runs another one."""

    running: dict[str, tuple[ProcessId, Process]]
    gone: frozenset[str]
    moved: frozenset[str]


class Truth:
    """Looks at the processes of live sessions. `sessions` gives those, `tell` puts an input in the queue."""

    def __init__(
        self, folder: SessionsFolder, sessions: Callable[[], Mapping[str, Session]], tell: Callable[[Input], None]
    ) -> None:
        self._folder = folder
        self._sessions = sessions
        self._tell = tell
        self._missed: dict[tuple[str, ProcessId], int] = {}

    async def follow(self) -> None:
        """Look until cancelled; a look that fails is logged and the next one tried."""
        aged_at = float("-inf")
        while True:
            if self._sessions():
                try:
                    await self.look()
                except OSError as error:
                    logger.warning("the process table could not be read", error=str(error))
                if time.monotonic() - aged_at >= AGE_SECONDS:
                    aged_at = time.monotonic()
                    self._tell(TimePassed(at=time.time()))
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Compare every live session with its process once."""
        known = {session_id: session.process for session_id, session in self._sessions().items()}
        seen = await asyncio.to_thread(look, self._folder, known)
        for session_id, (process, said) in seen.running.items():
            self._saw(session_id, process, said)
        self._miss(known, seen)

    def _saw(self, session_id: str, process: ProcessId, said: Process) -> None:
        session = self._sessions().get(session_id)
        told = ProcessSeen(
            session_id=session_id,
            status=said.status,
            waiting_for=said.waiting_for,
            process=process,
            changed_at=said.changed_at,
            at=time.time(),
        )
        if session is not None and is_news(session, told):
            self._tell(told)

    def _miss(self, known: Mapping[str, ProcessId | None], seen: Seen) -> None:
        missed: dict[tuple[str, ProcessId], int] = {}
        for session_id in seen.gone | seen.moved:
            process = known[session_id]
            assert process is not None
            count = missed[session_id, process] = self._missed.get((session_id, process), 0) + 1
            if session_id in seen.gone and count >= GONE_LOOKS:
                self._tell(ProcessGone(session_id=session_id, process=process, at=time.time()))
            elif session_id in seen.moved and count >= MOVED_LOOKS:
                told = ProcessGone(session_id=session_id, process=process, at=time.time(), reason="process_moved_on")
                self._tell(told)
        self._missed = missed


def look(folder: SessionsFolder, known: Mapping[str, ProcessId | None]) -> Seen:
    """What the files and the process table say of these sessions, of which some have a process already."""
    files = folder.read()
    named: dict[str, list[Process]] = {}
    for said in files:
        if said.session_id in known:
            named.setdefault(said.session_id, []).append(said)
    running = {}
    for session_id, claims in named.items():
        found = _runner(folder, claims, known[session_id])
        if found is not None:
            running[session_id] = found
    lost = {s: process for s, process in known.items() if process is not None and s not in running}
    gone = frozenset(s for s, process in lost.items() if not runs(process))
    others = {said.pid for said in files}
    moved = frozenset(s for s, process in lost.items() if s not in gone and process.pid in others)
    return Seen(running, gone, moved)


def _runner(
    folder: SessionsFolder, claims: Iterable[Process], known: ProcessId | None
) -> tuple[ProcessId, Process] | None:
    """Who runs a session: the process that is known for it, else the one that spoke last."""
    alive = [(process, said) for said in claims if (process := folder.identity(said)) is not None]
    alive.sort(key=lambda found: (found[0] == known, found[1].changed_at))
    return alive[-1] if alive else None
