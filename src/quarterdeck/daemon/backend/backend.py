"""What this machine's daemon offers its surfaces: the live state first, the store for what has left it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from quarterdeck.agents.claude.permission_suggestions import read_suggestions
from quarterdeck.core.engine.messages import CreateToken, Decide, ExtensionChanged, Remember, Reply, RevokeToken
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.event_data import McpChangeData, PluginChangeData
from quarterdeck.core.model.state import Request, Session, Token
from quarterdeck.core.risk.assess import Risk
from quarterdeck.core.risk.breakdown import Insight
from quarterdeck.core.text.audit_row import AuditRow
from quarterdeck.core.workspace.projects import project_id_of
from quarterdeck.daemon.backend.projects import ProjectShelf
from quarterdeck.daemon.backend.risk import Judging
from quarterdeck.daemon.backend.rules import RuleDesk
from quarterdeck.daemon.backend.sessions import SessionDesk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.sessions.past_sessions import PriorSessions
from quarterdeck.drivers.claude.extensions import Extensions
from quarterdeck.sessions.tmux.pane_cache import Panes
from quarterdeck.store.reader import AuditQuery, FeedQuery, Page, Reader
from quarterdeck.system.process_table import resident

OVER = ("decided", "withdrawn", "expired")
PROJECT_SESSIONS = 1000
"""How many sessions of one project are searched, the live and the newest first."""


def _newest(sessions: dict[str, Session]) -> list[Session]:
    return sorted(sessions.values(), key=lambda s: (-s.started_at, s.session_id))


class DaemonDesk(RuleDesk):
    """Serves one runner."""

    def __init__(
        self,
        loop: Loop,
        reader: Reader,
        prior: PriorSessions,
        judging: Judging,
        projects: ProjectShelf,
        extensions: Extensions,
        crew: SessionDesk,
        panes: Panes,
        figures: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        super().__init__(loop, reader)
        self._prior = prior
        self._judging = judging
        self.projects = projects
        self.extensions = extensions
        self.crew = crew
        self._panes = panes
        self._figures = figures

    @property
    def runner_id(self) -> str:
        return self._loop.state.runner_id

    @property
    def trouble(self) -> str | None:
        return self._loop.damaged or self._loop.trouble

    def stats(self) -> dict[str, Any]:
        return self._figures()

    @property
    def health(self) -> str:
        loop = self._loop
        if loop.damaged:
            return "read_only"
        return "nearly_full" if loop.nearly_full else "not_recording" if loop.trouble else "ok"

    def sessions(self) -> list[Session]:
        """Live ones first, then ended ones, then those of which only a transcript is left; each newest first."""
        state = self._loop.state
        heard = state.sessions.keys() | state.ended.keys()
        prior = {s.session_id: s for s in self._prior.sessions() if s.session_id not in heard}
        return _newest(state.sessions) + _newest(state.ended) + _newest(prior)

    def session(self, session_id: str) -> Session | None:
        state = self._loop.state
        return state.sessions.get(session_id) or state.ended.get(session_id) or self._prior.session(session_id)

    async def find_session(self, session_id: str) -> Session | None:
        return self.session(session_id) or await self._prior.find(session_id)

    def memory(self, session: Session) -> int | None:
        return resident(session.process) if session.process is not None and session.ended_at is None else None

    async def panes(self, sessions: Sequence[Session]) -> Mapping[str, str]:
        others = {s.session_id for s in sessions if s.mode == "observed" and s.ended_at is None}
        known = await self._panes.known() if others else {}
        return {session_id: where for session_id, where in known.items() if session_id in others}

    @property
    def seq_no(self) -> int:
        return self._loop.state.seq_no

    async def can_resume(self, after: int) -> bool:
        return await asyncio.to_thread(self._reader.first_seq_no) - 1 <= after <= self.seq_no

    def live_sessions(self) -> list[Session]:
        return _newest(self._loop.state.sessions)

    def pending(self) -> list[Request]:
        return sorted((r for r in self._loop.state.requests.values() if r.status == "pending"), key=lambda r: r.seq_no)

    async def feed(self, query: FeedQuery) -> Page:
        if query.project_id is not None:
            among = (s.session_id for s in self.sessions() if project_id_of(s.context.cwd) == query.project_id)
            query = replace(query, sessions=tuple(islice(among, PROJECT_SESSIONS)))
        return await asyncio.to_thread(self._reader.feed, query)

    async def audit(self, query: AuditQuery) -> list[AuditRow]:
        return await asyncio.to_thread(self._reader.audit, query)

    async def requests(self, status: str | None, after: int, limit: int) -> list[Request]:
        if status == "pending":
            return [r for r in self.pending() if r.seq_no > after][:limit]
        statuses = ("pending", *OVER) if status is None else OVER if status == "decided" else (status,)
        return await asyncio.to_thread(self._reader.requests, statuses, after=after, limit=limit)

    async def request(self, request_id: str) -> Request | None:
        live = self._loop.state.requests.get(request_id)
        return live or await asyncio.to_thread(self._reader.request, request_id)

    def risk(self, request: Request) -> Risk:
        return self._judging.risk(request)

    async def judge(self, requests: Sequence[Request]) -> None:
        await self._judging.judge(requests)

    async def insight(self, request: Request) -> Insight:
        return await self._judging.insight(request)

    def suggested(self, request: Request) -> list[str]:
        return read_suggestions(request.suggestions)

    def tokens(self) -> list[Token]:
        return sorted(self._loop.state.tokens.values(), key=lambda t: (t.created_at, t.token_id))

    async def create_token(self, command: CreateToken) -> Reply:
        return await self._loop.command(command)

    async def revoke_token(self, token_id: str, by: str) -> Reply:
        return await self._loop.command(RevokeToken(token_id=token_id, by=by, at=time.time()))

    async def record_change(self, change: PluginChangeData | McpChangeData) -> Reply:
        return await self._loop.command(ExtensionChanged(change=change, at=time.time()))

    async def decide(
        self,
        request_id: str,
        decision: Decision,
        digest: str,
        by: str,
        note: str | None,
        remember: Remember | None = None,
    ) -> Reply:
        prior = await self.request(request_id)
        command = Decide(
            request_id=request_id,
            decision=decision,
            digest=digest,
            by=by,
            at=time.time(),
            note=note,
            prior=prior,
            remember=remember,
        )
        reply = await self._loop.command(command)
        if reply.request is not None and reply.request.status != "pending" and reply.request.decision is None:
            return replace(reply, request=await self.request(request_id))
        return reply
