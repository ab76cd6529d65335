"""Rules, their trials, suggestions and verdicts as every surface sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, RuleHits
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.titles import subject_of
from quarterdeck.views.projection import struct_of
from quarterdeck.views.resources.runner_resource import Resource

if TYPE_CHECKING:  # it loads the parsers of shell lines, which no client needs
    from quarterdeck.core.rules.suggestions import Suggestion

SUBJECT = 200


class RuleView(Resource, kw_only=True):
    """A rule, and how often it has decided."""

    rule_id: str
    effect: str
    pattern: str
    scope: str
    scope_id: str | None
    scope_path: str | None
    expires_at: float | None
    hits: int
    last_hit_at: float | None
    created_at: float
    created_by: str
    note: str | None


class RuleList(Struct, kw_only=True):
    """All rules. `findings` describe conflicts, and rules that never apply because of another rule."""

    rules: list[RuleView]
    findings: list[str]
    next: None = None


class CreatedRules(Struct, kw_only=True):
    """The created rules. `existed` counts those that existed already or were repeated; `also_decided` are the pending
    requests that the rules decided."""

    rules: list[RuleView]
    existed: int
    also_decided: list[str]
    next: None = None


class CreatedRule(RuleView, kw_only=True):
    """The created rule. `also_decided` are the pending requests that it decided, `findings` its conflicts with other
    rules and what makes it too broad."""

    also_decided: list[str]
    findings: list[str]


class PastRequest(Struct, kw_only=True):
    """A past request that the rule would have decided."""

    request_id: str
    session_id: str
    at: float
    tool_name: str
    subject: str
    decision: str | None
    by: str | None
    surprise: str | None


class SimulationPage(Struct, kw_only=True):
    """The result of a rule on past requests: it would have decided `decided` of `seen`; `surprises` are those where you
    decided otherwise. `left` is the number of older requests, `next` their position."""

    seen: int
    decided: int
    surprises: list[PastRequest]
    examples: list[PastRequest]
    left: int
    next: int | None


class SuggestionView(Struct, kw_only=True):
    effect: str
    pattern: str
    scope: str
    scope_id: str | None
    scope_path: str | None
    times: int
    last_at: float
    examples: list[PastRequest]


class Suggestions(Struct, kw_only=True):
    suggestions: list[SuggestionView]
    seen: int
    next: None = None


class ConsideredView(Struct, kw_only=True):
    rule: RuleView
    matched: bool
    why: str


class ExplainedView(Struct, kw_only=True):
    """The verdict of the rules now: `effect` is allow, deny or ask, or null when no rule applies and a person is
    asked. `own_allows` are the rules of the agent's own settings that allow it then, each with its file."""

    effect: str | None
    rules: list[RuleView]
    reasons: list[str]
    considered: list[ConsideredView]
    patterns: list[str]
    own_allows: list[str]


def rule_view(rule: Rule, hits: RuleHits | None) -> RuleView:
    """A rule with how often it decided a request, and when it last did."""
    return struct_of(RuleView, rule, hits=hits.count if hits else 0, last_hit_at=hits.last_at if hits else None)


def past_request(request: Request, surprise: str | None = None) -> PastRequest:
    """A summary of a past request."""
    decision = request.decision
    return struct_of(
        PastRequest,
        request,
        at=request.opened_at,
        subject=cut(subject_of(request.tool_input), SUBJECT),
        decision=decision.decision_type if decision else None,
        by=decision.by if decision else None,
        surprise=surprise,
    )


def suggestion_view(suggestion: Suggestion) -> SuggestionView:
    """A suggested rule with the requests it comes from."""
    return struct_of(SuggestionView, suggestion, examples=[past_request(one) for one in suggestion.requests])
