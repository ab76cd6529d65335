"""Rules as the API returns and accepts them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from quarterdeck.api.http.resource import Resource
from quarterdeck.api.views.projection import struct_of
from quarterdeck.core.model.rule import MAX_RULES, Rule
from quarterdeck.core.model.state import RuleHits

Effect = Literal["allow", "deny", "ask"]
ScopeWord = Literal["once", "session", "project", "user", "hub"]
Text = Annotated[str, Meta(min_length=1, max_length=4096)]
Note = Annotated[str, Meta(max_length=1000)]


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


class NewRule(Struct, kw_only=True, forbid_unknown_fields=True):
    """A rule to create or to try. `scope_id` is the session of a session rule, or the project of a project rule, which
    may name its folder in `scope_path` instead. `expires` is a duration like 7d, `expires_at` a time."""

    effect: Effect
    pattern: Text
    scope: ScopeWord = "user"
    scope_id: Text | None = None
    scope_path: Text | None = None
    expires: Annotated[str, Meta(min_length=1, max_length=20)] | None = None
    expires_at: float | None = None
    note: Note | None = None


class ManyRules(Struct, kw_only=True, forbid_unknown_fields=True):
    """Rules to create together. With `is_trial` nothing is created, and the response shows what would be."""

    rules: Annotated[list[NewRule], Meta(max_length=MAX_RULES)]
    is_trial: bool = False


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


class SimulationRequest(NewRule, kw_only=True, forbid_unknown_fields=True):
    """A rule to try on past requests, page by page, newest first."""

    before: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


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


class ExplainRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """The request to explain, or a tool use in a session or folder."""

    request_id: Text | None = None
    tool_name: Text | None = None
    tool_input: dict[str, Any] | None = None
    session_id: Text | None = None
    cwd: Text | None = None


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
