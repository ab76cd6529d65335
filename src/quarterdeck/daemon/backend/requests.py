"""The daemon's requests for its surfaces: waiting and past ones, their risk, and decisions on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from msgspec.structs import replace

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.messages import CommandReply, Decide, Remember
from quarterdeck.core.model.decisions import Decision
from quarterdeck.core.model.risk_levels import Risk, needs_second_key
from quarterdeck.core.model.state import REQUEST_STATUSES, Request
from quarterdeck.core.risk.breakdown import RequestBreakdown
from quarterdeck.daemon.backend.risk import RiskService
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.store.reader import Reader

OVER = tuple(status for status in REQUEST_STATUSES if status != "pending")


class DaemonRequests:
    """The requests of one runner: the live state first, the store for what has left it."""

    def __init__(self, loop: Loop, reader: Reader, risk_service: RiskService) -> None:
        self._loop = loop
        self._reader = reader
        self._risk_service = risk_service

    def pending(self) -> list[Request]:
        return sorted((r for r in self._loop.state.requests.values() if r.status == "pending"), key=lambda r: r.seq_no)

    async def page(self, status: str | None, after: int, limit: int) -> list[Request]:
        if status == "pending":
            return [r for r in self.pending() if r.seq_no > after][:limit]
        statuses = REQUEST_STATUSES if status is None else OVER if status == "decided" else (status,)
        return await asyncio.to_thread(self._reader.requests, statuses, after=after, limit=limit)

    async def get(self, request_id: str) -> Request | None:
        live = self._loop.state.requests.get(request_id)
        return live or await asyncio.to_thread(self._reader.request, request_id)

    def holder(self, request: Request) -> str:
        if request.status != "pending":
            return "gone"
        return "reconnecting" if self._loop.is_away(request.request_id) else "connected"

    def risk(self, request: Request) -> Risk:
        return self._risk_service.risk(request)

    def needs_second_key(self, level: str) -> bool:
        return needs_second_key(level, self._loop.state.settings.confirm_high)

    async def assess(self, requests: Sequence[Request]) -> None:
        await self._risk_service.assess(requests)

    async def breakdown(self, request: Request) -> RequestBreakdown:
        return await self._risk_service.breakdown(request)

    def agent_suggestions(self, request: Request) -> list[str]:
        agent = AGENTS.get(request.agent)
        return agent.permission_suggestions(request.suggestions) if agent else []

    async def decide(
        self,
        request_id: str,
        decision: Decision,
        digest: str,
        by: str,
        note: str | None,
        remember: Remember | None = None,
    ) -> CommandReply:
        prior = await self.get(request_id)
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
            return replace(reply, request=await self.get(request_id))
        return reply
