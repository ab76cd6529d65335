"""The projects of this machine with what the daemon knows of them: their trust and their conversations."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping

from quarterdeck.config import ProjectsSettings
from quarterdeck.core.model.state import Session
from quarterdeck.core.workspace.projects import Listed, PastSession, Project, Scan
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.past_sessions import PriorSessions
from quarterdeck.projects.catalog import Projects
from quarterdeck.projects.scanner import real_folder

FIRST_LOOK_SECONDS = 20.0
PAST_SESSIONS = 20


class ProjectShelf:
    """Joins folders with sessions. With `scan_claude` the folders of sessions from before count too."""

    def __init__(self, settings: ProjectsSettings, loop: Loop, prior: PriorSessions) -> None:
        self._loop = loop
        self._prior = prior
        self._scan_claude = settings.scan_claude
        self._folders = Projects(settings.roots, settings.exclude, self._known)

    @property
    def progress(self) -> Scan:
        return self._folders.progress

    async def listed(self) -> list[Listed]:
        """Every project; the first time this waits for a look."""
        await self._prior.looked()
        await self._folders.look(FIRST_LOOK_SECONDS)
        state = self._loop.state
        over = {s.session_id: s for s in (*self._prior.sessions(), *state.ended.values())}
        gone = [s for s in over.values() if s.session_id not in state.sessions]
        return await asyncio.to_thread(joined, self._folders.all(), state.trust, gone, list(state.sessions.values()))

    async def scan(self, seconds: float, *, anew: bool) -> Scan:
        """Look for projects, and wait so long for the end of it."""
        await self._prior.looked()
        return await self._folders.scan(seconds, anew=anew)

    def folders(self) -> list[str]:
        """Every folder that is known, looked for or not."""
        return [*self._known(), *(project.path for project in self._folders.all())]

    async def close(self) -> None:
        await self._folders.close()

    def _known(self) -> dict[str, float]:
        """Every folder a session was in or that was trusted, and when something last happened there."""
        state = self._loop.state
        found = {path: 0.0 for path, trust in state.trust.items() if trust != "none"}
        prior = self._prior.sessions() if self._scan_claude else []
        for session in (*state.sessions.values(), *state.ended.values(), *prior):
            if cwd := session.context.cwd:
                found[cwd] = max(found.get(cwd, 0.0), session.last_event_at)
        return found


def joined(projects: list[Project], trust: Mapping[str, str], gone: list[Session], live: list[Session]) -> list[Listed]:
    """Each project with its trust and its conversations."""
    past, now = _by_folder(gone), _by_folder(live)
    return [
        Listed(
            project=project,
            trust=trust.get(project.path, "none"),
            past=_newest(past.get(project.path, [])),
            live=len(now.get(project.path, [])),
        )
        for project in projects
    ]


def _by_folder(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    real: dict[str, str] = {}
    found: defaultdict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        cwd = session.context.cwd
        if cwd and cwd not in real:
            real[cwd] = real_folder(cwd)
        if cwd:
            found[real[cwd]].append(session)
    return found


def _newest(sessions: list[Session]) -> tuple[PastSession, ...]:
    ordered = sorted(sessions, key=lambda s: (-s.last_event_at, s.session_id))
    return tuple(
        PastSession(session_id=s.session_id, title=s.title, last_used_at=s.last_event_at)
        for s in ordered[:PAST_SESSIONS]
    )
