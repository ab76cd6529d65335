"""The end of a request as every surface sees it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.state import Request
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.rule_view import RuleView


class DecisionView(Struct, kw_only=True):
    """The end of a request: the decision, who made it, and whether the agent received it. `rule_ids` are the rules that
    decided. Only the response to a decision sets `remembered`, the rule it created, and `also_decided`, the other
    requests that this rule decided."""

    request_id: str
    decision: str
    source: str
    by: str
    at: float | None
    note: str | None
    message: str | None
    reason: str | None
    interrupt: bool
    updated_input: dict[str, Any] | None
    updated_digest: str | None
    answers: dict[str, Any] | None
    notes: dict[str, str] | None
    mode: str | None
    digest: str | None
    status: str
    delivery: str | None
    rule_ids: list[str]
    pattern: str | None
    remembered: RuleView | None = None
    also_decided: list[str] = []


class DecisionResult(Struct, kw_only=True):
    """The result of one of several decisions."""

    request_id: Any
    ok: bool
    decision: DecisionView | None = None
    error: dict[str, Any] | None = None


class DecisionResults(Struct, kw_only=True):
    decisions: list[DecisionResult]
    next: None = None


def decision_view(request: Request) -> DecisionView | None:
    """The decision on a request; None while it is pending."""
    data = request.decision
    if data is None:
        return None
    return struct_of(
        DecisionView,
        data,
        request_id=request.request_id,
        decision="pass" if data.decision_type in ("no_opinion", "ask") else data.decision_type,
        at=request.decided_at,
        interrupt=bool(data.interrupt),
        delivery=request.delivery,
    )
