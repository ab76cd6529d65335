"""The API's backend on this machine, put together from its parts; and the small ones among them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from quarterdeck import __version__
from quarterdeck.agents.registry import AGENTS
from quarterdeck.api.backend import Backend, RunnerEntry, SessionBackend
from quarterdeck.config.effective import EffectiveSetting
from quarterdeck.config.settings import Config
from quarterdeck.core.engine.messages import CommandReply, CreateToken, ElevateToken, ExtensionChanged, RevokeToken
from quarterdeck.core.model.event_data.admin_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Token
from quarterdeck.core.text.audit.audit_row import AuditRow
from quarterdeck.core.workspace.projects import Scan, project_id_of
from quarterdeck.daemon.backend.key_deck import DaemonDeck
from quarterdeck.daemon.backend.projects import DaemonProjects
from quarterdeck.daemon.backend.requests import DaemonRequests
from quarterdeck.daemon.backend.risk import RiskService
from quarterdeck.daemon.backend.rules import DaemonRules
from quarterdeck.daemon.backend.sessions import DaemonSessions
from quarterdeck.daemon.backend.worktrees import DaemonWorktrees
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.controller import SessionController
from quarterdeck.daemon.sessions.past_sessions import PastSessions
from quarterdeck.daemon.setup.core_settings import runner_name
from quarterdeck.drivers.extensions import Extensions
from quarterdeck.drivers.registry import Drivers, agent_of
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.pane_cache import PaneCache
from quarterdeck.store.reader import (
    ActorActivity,
    AuditQuery,
    EventPage,
    FeedQuery,
    Lineage,
    Reader,
    RunEvents,
)
from quarterdeck.views.counts.series import SeriesAnswer, SeriesQuery
from quarterdeck.views.health import DaemonFacts

FEED_SECONDS = 2.0
"""How long one page of the feed is looked for; a client goes on where it ended."""
PROJECT_SESSIONS = 1000
"""How many sessions of one project are searched; the live and the newest come first."""


def daemon_backend(
    loop: Loop,
    reader: Reader,
    past_sessions: PastSessions,
    risk_service: RiskService,
    projects: DaemonProjects,
    controller: SessionController,
    drivers: Drivers,
    config: Config,
    worktree_folder: Path,
    panes: PaneCache,
    deck: DaemonDeck,
    collect_stats: Callable[[], dict[str, Any]] = dict,
    settings: Sequence[EffectiveSetting] = (),
    url: Callable[[], str] = str,
) -> Backend:
    """The backend of one runner."""
    worktrees = DaemonWorktrees(loop, worktree_folder)
    sessions = DaemonSessions(loop, controller, drivers, config, worktrees, past_sessions, panes)
    return Backend(
        runner_id=loop.state.runner_id,
        runners=DaemonRunners(loop, config),
        health=DaemonHealth(loop, collect_stats, settings, url, lambda: projects.progress),
        feed=DaemonFeed(loop, reader, sessions),
        counts=DaemonCounts(reader),
        sessions=sessions,
        worktrees=worktrees,
        requests=DaemonRequests(loop, reader, risk_service),
        rules=DaemonRules(loop, reader, drivers),
        projects=projects,
        extensions=DaemonExtensions(loop, drivers.of().extensions(projects.folders)),
        tokens=DaemonTokens(loop),
        deck=deck,
    )


class DaemonRunners:
    """This machine alone."""

    def __init__(self, loop: Loop, config: Config) -> None:
        self._loop = loop
        self._name = runner_name(config)
        self._since = time.time()

    def all(self) -> list[RunnerEntry]:
        """This machine: it is ready whenever it answers."""
        state = self._loop.state
        entry = RunnerEntry(
            runner_id=state.runner_id,
            name=self._name,
            version=__version__,
            state="ready",
            seq_no=state.seq_no,
            since=self._since,
        )
        return [entry]


class DaemonHealth:
    """How the daemon is, with its numbers."""

    def __init__(
        self,
        loop: Loop,
        collect_stats: Callable[[], dict[str, Any]],
        settings: Sequence[EffectiveSetting] = (),
        url: Callable[[], str] = str,
        scan: Callable[[], Scan] = Scan,
    ) -> None:
        self._loop = loop
        self.stats = collect_stats
        self.settings = list(settings)
        self._url, self._scan = url, scan

    @property
    def trouble(self) -> str | None:
        return self._loop.damaged or self._loop.trouble

    def facts(self) -> DaemonFacts:
        scan = self._scan()
        return DaemonFacts(
            status=self.status, url=self._url(), stats=self.stats(), watch=scan.watch, scan_notes=scan.notes
        )

    @property
    def status(self) -> str:
        loop = self._loop
        if loop.damaged:
            return "read_only"
        return "nearly_full" if loop.nearly_full else "not_recording" if loop.trouble else "ok"


class DaemonFeed:
    """The log of one runner."""

    def __init__(self, loop: Loop, reader: Reader, sessions: SessionBackend) -> None:
        self._loop = loop
        self._reader = reader
        self._sessions = sessions

    @property
    def seq_no(self) -> int:
        return self._loop.state.seq_no

    async def can_resume(self, after: int) -> bool:
        return await asyncio.to_thread(self._reader.first_seq_no) - 1 <= after <= self.seq_no

    async def events(self, query: FeedQuery) -> EventPage:
        query = replace(query, sessions=self._sessions_of(query.project_id))
        return await asyncio.to_thread(self._reader.feed, replace(query, seconds=FEED_SECONDS))

    async def event(self, name: str) -> tuple[FeedEvent, Lineage] | None:
        return await asyncio.to_thread(self._reader.event, name)

    async def payload(self, event: FeedEvent) -> dict[str, Any] | None:
        return await asyncio.to_thread(self._reader.payload, event)

    async def run_events(self, session_id: str, after: int | None, before: int | None, limit: int) -> RunEvents:
        return await asyncio.to_thread(self._reader.run_events, session_id, after, before, limit)

    async def activity(self, session_id: str) -> dict[str, ActorActivity]:
        return await asyncio.to_thread(self._reader.activity, session_id)

    async def audit(self, query: AuditQuery) -> list[AuditRow]:
        query = replace(query, sessions=self._sessions_of(query.project_id))
        return await asyncio.to_thread(self._reader.audit, query)

    def _sessions_of(self, project_id: str | None) -> tuple[str, ...] | None:
        """The sessions of a project; None for those of all."""
        if project_id is None:
            return None
        among = (s.session_id for s in self._sessions.all() if project_id_of(s.context.cwd) == project_id)
        return tuple(islice(among, PROJECT_SESSIONS))


class DaemonCounts:
    """The counts of one runner."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def series(self, query: SeriesQuery) -> SeriesAnswer:
        return await asyncio.to_thread(self._reader.series, query)


class DaemonExtensions:
    """The plugins and MCP servers of the default agent."""

    def __init__(self, loop: Loop, extensions: Extensions | None) -> None:
        self._loop = loop
        self._extensions = extensions

    @property
    def agent(self) -> Extensions:
        if self._extensions is None:
            raise Refused(f"{AGENTS[agent_of()].label} has no plugins and no MCP servers")
        return self._extensions

    async def record(self, change: PluginChangeData | McpChangeData) -> CommandReply:
        return await self._loop.command(ExtensionChanged(change=change, at=time.time()))


class DaemonTokens:
    """The created credentials of one runner."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def all(self) -> list[Token]:
        return sorted(self._loop.state.tokens.values(), key=lambda t: (t.created_at, t.token_id))

    async def create(self, command: CreateToken) -> CommandReply:
        return await self._loop.command(command)

    async def elevate(self, command: ElevateToken) -> CommandReply:
        return await self._loop.command(command)

    async def revoke(self, token_id: str, by: str) -> CommandReply:
        return await self._loop.command(RevokeToken(token_id=token_id, by=by, at=time.time()))
