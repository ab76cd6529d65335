"""Agents may look and may not decide: what one of their processes asks to change is refused and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol, cast

from litestar.connection import ASGIConnection, Request
from litestar.handlers import BaseRouteHandler
from msgspec import Struct

from quarterdeck.api.http.asgi import Scope
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.principal import by
from quarterdeck.core.engine.messages import DecisionRefused

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class Suspect(Struct, frozen=True, kw_only=True):
    """Who may not decide: `kind` is the error's, `reason` ends the sentence "this was refused: …"."""

    kind: str
    reason: str
    session_id: str | None = None
    pid: int | None = None
    command: str | None = None


class Ancestry(Protocol):
    """Knows which processes agents have started."""

    async def suspect(self, scope: Scope) -> Suspect | None:
        """Why whoever holds this connection may not decide; None when nothing is known against them."""
        ...


class Agents:
    """Keeps agents from deciding. `record` puts every attempt on record."""

    def __init__(self, ancestry: Ancestry, record: Callable[[DecisionRefused], None]) -> None:
        self._ancestry = ancestry
        self._record = record

    async def keep_out(self, scope: Scope, name: str, wanted: str, request_id: str | None = None) -> None:
        """Raise when the connection is an agent's; `name` is whose credential it shows."""
        suspect = await self._ancestry.suspect(scope)
        if suspect is None:
            return
        refused = DecisionRefused(
            wanted=wanted,
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
    """Every route that changes something is for people and their programs."""
    method = connection.scope.get("method", "GET")
    if method in SAFE or handler.opt.get("reads"):
        return
    request_id = connection.path_params.get("request_id")
    wanted = "a decision" if request_id else f"{method} {connection.url.path[:200]}"
    agents: Agents = connection.app.state.agents
    name = by(cast(Request[Any, Any, Any], connection))
    await agents.keep_out(cast(Scope, connection.scope), name, wanted, request_id)
