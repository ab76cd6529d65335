"""The projects of this machine with the daemon's knowledge of them: their trust and their sessions."""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping

from quarterdeck.config.settings import ProjectsSettings
from quarterdeck.core.engine.messages import CommandReply, TrustProject
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.folder_trust import NO_TRUST, is_trusted, trust_at
from quarterdeck.core.workspace.project_config import FolderConfig
from quarterdeck.core.workspace.projects import PastSession, Project, ProjectEntry, Scan
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.past_sessions import PastSessions
from quarterdeck.drivers.registry import Drivers
from quarterdeck.projects.catalog import ProjectCatalog
from quarterdeck.projects.scanner import real_folder

FIRST_SCAN_SECONDS = 20.0
PAST_SESSIONS = 20


class DaemonProjects:
    """Joins folders with sessions. With `scan_claude` the folders of past sessions count too."""

    def __init__(self, settings: ProjectsSettings, loop: Loop, past_sessions: PastSessions, drivers: Drivers) -> None:
        self._loop = loop
        self._drivers = drivers
        self._past_sessions = past_sessions
        self._scan_claude = settings.scan_claude
        self._catalog = ProjectCatalog(settings.roots, settings.exclude, self._known)

    @property
    def progress(self) -> Scan:
        return self._catalog.progress

    async def entries(self) -> list[ProjectEntry]:
        """Every project. The first call waits for a scan."""
        await self._past_sessions.wait_for_scan()
        await self._catalog.refresh(FIRST_SCAN_SECONDS)
        state = self._loop.state
        ended = {s.session_id: s for s in (*self._past_sessions.sessions(), *state.ended.values())}
        gone = [s for s in ended.values() if s.session_id not in state.sessions]
        return await asyncio.to_thread(
            join_sessions, self._catalog.all(), state.trust, gone, list(state.sessions.values())
        )

    async def scan(self, seconds: float, *, refresh: bool) -> Scan:
        """Scan for projects, and wait up to this many seconds for the end of the scan."""
        await self._past_sessions.wait_for_scan()
        return await self._catalog.scan(seconds, refresh=refresh)

    async def config(self, path: str) -> FolderConfig | None:
        real = await asyncio.to_thread(_existing_folder, path)
        if real is None:
            return None
        config = await asyncio.to_thread(self._drivers.read_project_config, real)
        return FolderConfig(path=real, trusted=is_trusted(self._loop.state.trust, real, "sessions"), config=config)

    async def trusted_folder(self, path: str) -> str | None:
        real = await asyncio.to_thread(_existing_folder, path)
        return real if real is not None and is_trusted(self._loop.state.trust, real, "extensions") else None

    def trust_of(self, path: str) -> str | None:
        return trust_at(self._loop.state.trust, path)

    async def trust(self, path: str, trust: str, by: str) -> CommandReply:
        real = await asyncio.to_thread(os.path.realpath, path)
        return await self._loop.command(TrustProject(path=real, trust=trust, by=by, at=time.time()))

    def folders(self) -> list[str]:
        """Every known folder, found by a scan or not."""
        return [*self._known(), *(project.path for project in self._catalog.all())]

    async def close(self) -> None:
        await self._catalog.close()

    def _known(self) -> dict[str, float]:
        """Every folder that a session was in or that was trusted, and the time of its last event."""
        state = self._loop.state
        folders = {path: 0.0 for path, trust in state.trust.items() if trust != NO_TRUST}
        past_sessions = self._past_sessions.sessions() if self._scan_claude else []
        for session in (*state.sessions.values(), *state.ended.values(), *past_sessions):
            if cwd := session.context.cwd:
                folders[cwd] = max(folders.get(cwd, 0.0), session.last_event_at)
        return folders


def _existing_folder(path: str) -> str | None:
    """The real path of a folder; None when there is none. Called in a thread."""
    real = None if "\0" in path else os.path.realpath(path)
    return real if real is not None and os.path.isdir(real) else None  # noqa: PTH112 the path is not this process's own


def join_sessions(
    projects: list[Project], trust: Mapping[str, str], gone: list[Session], live: list[Session]
) -> list[ProjectEntry]:
    """Each project with its trust and its sessions."""
    past, now = _by_folder(gone), _by_folder(live)
    return [
        ProjectEntry(
            project=project,
            trust=trust_at(trust, project.path) or NO_TRUST,
            past=_newest(past.get(project.path, [])),
            live=len(now.get(project.path, [])),
        )
        for project in projects
    ]


def _by_folder(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    real: dict[str, str] = {}
    folders: defaultdict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        cwd = session.context.cwd
        if cwd and cwd not in real:
            real[cwd] = real_folder(cwd)
        if cwd:
            folders[real[cwd]].append(session)
    return folders


def _newest(sessions: list[Session]) -> tuple[PastSession, ...]:
    ordered = sorted(sessions, key=lambda s: (-s.last_event_at, s.session_id))
    return tuple(
        PastSession(session_id=s.session_id, agent=s.agent, title=s.title, last_used_at=s.last_event_at)
        for s in ordered[:PAST_SESSIONS]
    )
