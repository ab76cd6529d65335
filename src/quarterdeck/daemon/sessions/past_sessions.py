"""Sessions of which we have heard nothing: their transcripts are under Claude Code's home, and they can be resumed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from pathlib import Path

import structlog
from msgspec import Struct

from quarterdeck.agents.claude.transcript import Glance, read_glance
from quarterdeck.core.engine.fold import preview
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Session
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.drivers.claude.transcript_files import SUFFIX, Unreadable, opened

AGAIN_SECONDS = 30.0
MAX_SESSIONS = 1_000
END = 16 * 1024
FURTHER = 256 * 1024

logger = structlog.get_logger("prior")


class File(Struct, frozen=True):
    """A transcript as its folder lists it."""

    path: str
    session_id: str
    size: int
    changed_at: float


class PriorSessions:
    """A view of the transcripts, looked at again when somebody asks, but not too often."""

    def __init__(self, claude: Path) -> None:
        self._projects = claude / "projects"
        self._processes = SessionsFolder(claude / "sessions")
        self._sessions: dict[str, Session] = {}
        self._known: dict[str, tuple[File, Glance | None]] = {}
        self._looked = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._look_again()

    def sessions(self) -> list[Session]:
        """The sessions as last seen."""
        self._look_again()
        return list(self._sessions.values())

    def session(self, session_id: str) -> Session | None:
        self._look_again()
        return self._sessions.get(session_id)

    async def find(self, session_id: str) -> Session | None:
        """A session by its id, though it may be younger than our last look."""
        if session_id not in self._sessions:
            await self.looked()
        if session_id not in self._sessions:
            self._looked = 0.0
            self._look_again()
            await self.looked()
        return self._sessions.get(session_id)

    async def looked(self) -> None:
        """Wait for a look that is under way."""
        if self._looking is not None:
            await asyncio.wait([self._looking])

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking

    def _look_again(self) -> None:
        busy = self._looking is not None and not self._looking.done()
        if not busy and (not self._looked or time.monotonic() - self._looked > AGAIN_SECONDS):
            self._looked = time.monotonic()
            self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        try:
            self._known, self._sessions = await asyncio.to_thread(look, self._projects, self._processes, self._known)
        except Exception:
            logger.exception("prior sessions could not be looked for")


def look(
    projects: Path, processes: SessionsFolder, known: dict[str, tuple[File, Glance | None]]
) -> tuple[dict[str, tuple[File, Glance | None]], dict[str, Session]]:
    """Every transcript and what it says at a glance, and the sessions in them; a file that is as it was is not read."""
    newest = sorted(_files(projects), key=lambda file: -file.changed_at)[:MAX_SESSIONS]
    seen = {f.path: kept if (kept := known.get(f.path)) and kept[0] == f else (f, _glance(projects, f)) for f in newest}
    found = {file.session_id: (file, glance) for file, glance in reversed(seen.values()) if glance is not None}
    running = [said for said in processes.read() if said.session_id in found]
    live = {said.session_id for said in running if processes.identity(said) is not None}
    return seen, {s: _session(file, glance, live=s in live) for s, (file, glance) in found.items()}


def _files(projects: Path) -> list[File]:
    found: list[File] = []
    for folder in _listed(projects):
        if not folder.is_dir(follow_symlinks=False):
            continue
        for entry in _listed(folder.path):
            session_id = safe_id(entry.name.removesuffix(SUFFIX), "")
            if session_id and entry.name == session_id + SUFFIX:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found.append(File(entry.path, session_id, status.st_size, status.st_mtime))
    return found


def _listed(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _glance(projects: Path, file: File) -> Glance | None:
    """The ends of a transcript, and more of its beginning where that tells no folder."""
    try:
        with opened(projects, file.path) as found:
            tail = os.pread(found.descriptor, END, max(0, found.size - END))
            glance = read_glance(os.pread(found.descriptor, END, 0), tail)
            if (glance is None or not glance.cwd or not glance.title) and found.size > END:
                glance = read_glance(os.pread(found.descriptor, FURTHER, 0), tail)
            return glance
    except (Unreadable, OSError):
        return None


def _session(file: File, glance: Glance, *, live: bool) -> Session:
    """Who runs without our hooks is unknown to us, the others have ended. No record is later than its file."""
    latest = file.changed_at + 1
    started_at = glance.started_at if 0 < glance.started_at <= latest else file.changed_at
    last_at = glance.last_at if 0 < glance.last_at <= latest else file.changed_at
    return Session(
        session_id=file.session_id,
        started_at=started_at,
        last_event_at=last_at,
        ended_at=None if live else last_at,
        agent_state=AgentState.UNKNOWN if live else AgentState.ENDED,
        state_source="transcript",
        context=Context(cwd=glance.cwd, transcript_path=file.path),
        title=preview(glance.title),
        model=glance.model,
    )
