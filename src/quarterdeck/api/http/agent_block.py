"""Agents can read but not decide: a change requested by an agent's process is refused and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, cast

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from msgspec import Struct

from quarterdeck.api.http.asgi import Scope
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import caller_of
from quarterdeck.core.engine.messages import DecisionRefused

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class BlockedCaller(Struct, frozen=True, kw_only=True):
    """A caller that may not decide: `kind` is the error's kind, `reason` ends the sentence "this was refused: …"."""

    kind: str
    reason: str
    session_id: str | None = None
    pid: int | None = None
    command: str | None = None


class Ancestry(Protocol):
    """The processes that agents have started."""

    async def suspect(self, scope: Scope) -> BlockedCaller | None:
        """The reason why the process behind this connection may not decide; None when it may."""
        ...


class AgentGuard:
    """Refuses decisions by agents. `record` receives every attempt."""

    def __init__(self, ancestry: Ancestry, record: Callable[[DecisionRefused], None]) -> None:
        self._ancestry = ancestry
        self._record = record

    async def reject_agent(self, scope: Scope, name: str, action: str, request_id: str | None = None) -> None:
        """Raise when an agent's process holds the connection. `name` is the owner of its credential."""
        suspect = await self._ancestry.suspect(scope)
        if suspect is None:
            return
        refused = DecisionRefused(
            attempt=action,
            by=name,
            reason=suspect.reason,
            agent_session_id=suspect.session_id,
            request_id=request_id,
            pid=suspect.pid,
            command=suspect.command,
            at=time.time(),
        )
        self._record(refused)
        more = {"session_id": suspect.session_id, "pid": suspect.pid}
        raise ApiError(403, suspect.kind, f"this was refused: {suspect.reason}", **more)


async def no_agents(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse agents on every route that changes something; those are for people and their programs."""
    method = connection.scope.get("method", "GET")
    if method in SAFE or handler.opt.get("reads"):
        return
    request_id = connection.path_params.get("request_id")
    action = "a decision" if request_id else f"{method} {connection.url.path[:200]}"
    agents: AgentGuard = connection.app.state.agents
    await agents.reject_agent(cast(Scope, connection.scope), caller_of(connection).name, action, request_id)
