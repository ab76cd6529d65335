"""A request as lists and messages show it."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.json import Encoder

from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.state import Request
from quarterdeck.core.text.sanitize import hidden_parts
from quarterdeck.views.allowed_decisions import decisions_for
from quarterdeck.views.projection import struct_of
from quarterdeck.views.request_outcome import outcome
from quarterdeck.views.resources.decision_view import DecisionView, decision_view

LIST_INPUT = 64 * 1024
LIST_HEAD = 4096
_encode = Encoder().encode


class RiskView(Struct, kw_only=True):
    """The risk of a request: low, medium, high or critical, with the reasons, worst first."""

    level: str
    reasons: list[str]


class TruncatedInput(Struct, kw_only=True):
    """Stands in for an input too large for a list: its size, its digest and its beginning."""

    bytes: int
    sha256: str
    begins: str


class RequestView(Struct, kw_only=True):
    """A request for a decision. A decision must send the `digest`. Lists leave out a large `tool_input` and set
    `truncated`; `GET /requests/{id}` returns it whole. `suggested` are the agent's own `suggestions` as sentences,
    `escalated` the channels that were notified. Without a terminal (`has_terminal`) a request cannot be passed.
    `holder` says where the agent is that waits for the answer: connected, reconnecting after a restart of the daemon (a
    decision is refused until it is back), or gone. `decisions` are those that fit, `hides` what must be expanded before
    an allow, `outcome` the sentence to show, to which a surface adds the time."""

    request_id: str
    kind: str
    form: str | None
    session_id: str
    run_id: str
    event_id: str
    runner_id: str
    agent_id: str | None
    agent_type: str | None
    agent: str
    tool_name: str
    tool_kind: str
    tool_input: dict[str, Any]
    truncated: TruncatedInput | None
    tool_use_id: str | None
    digest: str
    risk: RiskView
    needs_second_key: bool
    suggestions: list[Any]
    suggested: list[str]
    held: bool
    holder: str
    has_terminal: bool
    opened_at: float
    expires_at: float | None
    escalated: list[str]
    escalated_at: float | None
    status: str
    decisions: list[str]
    outcome: str
    hides: list[str]
    decision: DecisionView | None


class RequestList(Struct, kw_only=True):
    requests: list[RequestView]
    next: int | None


class RequestFacts(Struct, frozen=True, kw_only=True):
    """The facts about a request that it does not hold itself: its machine, its risk as far as it is known, whether an
    allow needs a confirmation, the agent's suggestions as sentences, and where the agent is that waits."""

    runner_id: str
    risk: Risk
    needs_second_key: bool
    suggested: list[str]
    holder: str
    has_terminal: bool


R = TypeVar("R", bound=RequestView)


def request_view(request: Request, facts: RequestFacts) -> RequestView:
    """A request with its decision and risk, as in lists: a large input is shortened."""
    short = shortened(request.tool_input)
    tool_input = request.tool_input if short is None else {}
    hides = hidden_parts(request.tool_input, short.bytes if short else None)
    return whole_request_view(RequestView, request, facts, tool_input=tool_input, truncated=short, hides=hides)


def whole_request_view(shape: type[R], request: Request, facts: RequestFacts, **more: Any) -> R:
    """A request with its whole input, and with the other fields of a larger view."""
    known: dict[str, Any] = {
        "runner_id": facts.runner_id,
        "truncated": None,
        "risk": struct_of(RiskView, facts.risk),
        "needs_second_key": facts.needs_second_key,
        "suggested": facts.suggested,
        "holder": facts.holder,
        "has_terminal": facts.has_terminal,
        "decisions": decisions_for(request, has_terminal=facts.has_terminal),
        "outcome": outcome(request),
        "decision": decision_view(request),
    }
    if "hides" not in more:
        known["hides"] = hidden_parts(request.tool_input)
    return struct_of(shape, request, **known | more)


def shortened(tool_input: dict[str, Any]) -> TruncatedInput | None:
    """The stand-in for a large input in lists; None for one that lists show whole."""
    body = _encode(tool_input)
    if len(body) <= LIST_INPUT:
        return None
    begins = body[:LIST_HEAD].decode(errors="ignore")
    return TruncatedInput(bytes=len(body), sha256=hashlib.sha256(body).hexdigest(), begins=begins)
