"""What a client may order over the live socket, and the scope each needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.http.credentials import Principal
from quarterdeck.api.http.errors import ApiError, field_in
from quarterdeck.api.live.session_commands import SESSION_COMMANDS, SessionAct
from quarterdeck.api.live.terminals import TerminalInput, TerminalResize, Terminals
from quarterdeck.api.routes.decisions import NamedDecision, decide_as
from quarterdeck.api.routes.rules import add_rule_as, remove_rule_as
from quarterdeck.api.views.rules import NewRule, RuleName

T = TypeVar("T")


class Surface(Protocol):
    """Who orders."""

    @property
    def desk(self) -> Desk: ...

    @property
    def terminals(self) -> Terminals: ...


def read_args(args: dict[str, Any], shape: type[T]) -> T:
    """The arguments in their shape, or what is wrong with them."""
    try:
        return msgspec.convert(args, shape)
    except msgspec.ValidationError as error:
        raise ApiError(422, "invalid", str(error), field=field_in(str(error))) from None


Act = Callable[[Surface, Any, Principal, str], Awaitable[Any]]


async def _decide(it: Surface, asked: NamedDecision, who: Principal, by: str) -> Any:
    return await decide_as(it.desk, asked.request_id, asked, who, by)


async def _add_rule(it: Surface, asked: NewRule, who: Principal, by: str) -> Any:
    return await add_rule_as(it.desk, asked, by)


async def _remove_rule(it: Surface, asked: RuleName, who: Principal, by: str) -> Any:
    await remove_rule_as(it.desk, asked.rule_id, by)
    return {"ok": True}


async def _type(it: Surface, asked: TerminalInput, who: Principal, by: str) -> Any:
    await it.terminals.write(asked)


async def _resize(it: Surface, asked: TerminalResize, who: Principal, by: str) -> Any:
    await it.terminals.resize(asked)


def _of_session(act: SessionAct) -> Act:
    async def run(it: Surface, asked: Any, who: Principal, by: str) -> Any:
        return await act(it.desk, asked, by)

    return run


ACTIONS: Mapping[str, tuple[type[Struct], Act]] = {
    "decide": (NamedDecision, _decide),
    "add_rule": (NewRule, _add_rule),
    "remove_rule": (RuleName, _remove_rule),
    "terminal_input": (TerminalInput, _type),
    "terminal_resize": (TerminalResize, _resize),
    **{name: (order.shape, _of_session(order.act)) for name, order in SESSION_COMMANDS.items()},
}
COMMANDS = {
    "decide": "approve",
    "add_rule": "control",
    "remove_rule": "control",
    "terminal_input": "control",
    "terminal_resize": "observe",
    **{name: order.scope for name, order in SESSION_COMMANDS.items()},
}
"""What a client may order over the socket, and the scope it needs."""
TYPING = frozenset({"terminal_input", "terminal_resize"})
SLOW = frozenset(SESSION_COMMANDS)
"""What takes its time and keeps nothing else waiting."""
