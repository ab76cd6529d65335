"""Rules as the API shows and takes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from quarterdeck.core.model.rule import MAX_RULES, Rule
from quarterdeck.core.model.state import Hits

Effect = Literal["allow", "deny", "ask"]
ScopeWord = Literal["once", "session", "project", "user", "hub"]
Text = Annotated[str, Meta(min_length=1, max_length=4096)]
Note = Annotated[str, Meta(max_length=1000)]


class RuleView(Struct, kw_only=True):
    """A standing decision, and how often it has decided."""

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
    """`findings` are conflicts, and rules that another one makes idle, in words."""

    rules: list[RuleView]
    findings: list[str]
    next: None = None


class NewRule(Struct, kw_only=True, forbid_unknown_fields=True):
    """A rule to make, or to try. A session rule names its session in `scope_id`; a project rule its project there, or
    its folder in `scope_path`. `expires` is a length like 7d, `expires_at` a time."""

    effect: Effect
    pattern: Text
    scope: ScopeWord = "user"
    scope_id: Text | None = None
    scope_path: Text | None = None
    expires: Annotated[str, Meta(min_length=1, max_length=20)] | None = None
    expires_at: float | None = None
    note: Note | None = None


class ManyRules(Struct, kw_only=True, forbid_unknown_fields=True):
    """Rules to make together. With `is_trial` nothing is made, and the answer says what would be."""

    rules: Annotated[list[NewRule], Meta(max_length=MAX_RULES)]
    is_trial: bool = False


class MadeRules(Struct, kw_only=True):
    """`existed` is how many stood already or came twice; `also_decided` are the requests that waited and that the
    rules have settled."""

    rules: list[RuleView]
    existed: int
    also_decided: list[str]
    next: None = None


class RuleName(Struct, kw_only=True, forbid_unknown_fields=True):
    rule_id: Text


class MadeRule(RuleView, kw_only=True):
    """`also_decided` are the requests that waited and that the rule has settled."""

    also_decided: list[str]


class WhatIf(NewRule, kw_only=True, forbid_unknown_fields=True):
    """A rule to try on the past, page by page from the newest request backwards."""

    before: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000


class PastRequest(Struct, kw_only=True):
    """A request the rule would have decided."""

    request_id: str
    session_id: str
    at: float
    tool_name: str
    subject: str
    decision: str | None
    by: str | None
    surprise: str | None


class Simulated(Struct, kw_only=True):
    """What a rule would have done: `decided` of `seen`, of which some would have surprised. `left` is how many older
    requests there are, `next` where they begin."""

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


class Question(Struct, kw_only=True, forbid_unknown_fields=True):
    """What to explain: a request, or a use of a tool by a session or in a folder."""

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
    """What the rules say now: `effect` is allow, deny, ask, or null when a person is asked for want of a rule."""

    effect: str | None
    rules: list[RuleView]
    reasons: list[str]
    considered: list[ConsideredView]
    patterns: list[str]


def rule_view(rule: Rule, hits: Hits | None) -> RuleView:
    """A rule as the API shows it."""
    return RuleView(
        rule_id=rule.rule_id,
        effect=rule.effect,
        pattern=rule.pattern,
        scope=rule.scope,
        scope_id=rule.scope_id,
        scope_path=rule.scope_path,
        expires_at=rule.expires_at,
        hits=hits.count if hits else 0,
        last_hit_at=hits.last_at if hits else None,
        created_at=rule.created_at,
        created_by=rule.created_by,
        note=rule.note,
    )
