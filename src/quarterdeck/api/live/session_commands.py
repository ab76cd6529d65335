"""Orders to sessions over the live socket: the same as over the API, with the session's id among the arguments."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.routes.sessions import (
    Elsewhere,
    Fork,
    Id,
    Message,
    NewSession,
    Takeover,
    change_as,
    fork_as,
    interrupt_as,
    order_as,
    send_as,
    start_as,
    takeover_as,
)
from quarterdeck.core.engine.session_messages import End

SessionAct = Callable[[Desk, Any, str], Awaitable[Any]]


class SessionCommand(Struct, frozen=True):
    """What is asked for, the scope it needs, and who does it."""

    shape: type[Struct]
    scope: str
    act: SessionAct


class NamedSession(Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: Id


class NamedMessage(Message, kw_only=True, forbid_unknown_fields=True):
    session_id: Id


class NamedElsewhere(Elsewhere, kw_only=True, forbid_unknown_fields=True):
    session_id: Id


class NamedFork(Fork, kw_only=True, forbid_unknown_fields=True):
    session_id: Id


class NamedTakeover(Takeover, kw_only=True, forbid_unknown_fields=True):
    session_id: Id


async def _interrupt(desk: Desk, asked: NamedSession, by: str) -> Any:
    return await interrupt_as(desk, asked.session_id, by)


async def _end(desk: Desk, asked: NamedSession, by: str) -> Any:
    return await order_as(desk, End(session_id=asked.session_id, by=by, at=0.0))


SESSION_COMMANDS: Mapping[str, SessionCommand] = {
    "start_session": SessionCommand(NewSession, "control", start_as),
    "send_message": SessionCommand(
        NamedMessage, "prompt", lambda desk, asked, by: send_as(desk, asked.session_id, asked, by)
    ),
    "interrupt_session": SessionCommand(NamedSession, "control", _interrupt),
    "end_session": SessionCommand(NamedSession, "control", _end),
    "change_mode": SessionCommand(
        NamedElsewhere, "control", lambda desk, asked, by: change_as(desk, asked.session_id, asked, by)
    ),
    "fork_session": SessionCommand(
        NamedFork, "control", lambda desk, asked, by: fork_as(desk, asked.session_id, asked, by)
    ),
    "takeover_session": SessionCommand(
        NamedTakeover, "control", lambda desk, asked, by: takeover_as(desk, asked.session_id, asked, by)
    ),
}
