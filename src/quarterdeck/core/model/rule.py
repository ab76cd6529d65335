"""One rule, where and when it holds, and what several of them come to."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from quarterdeck.core.model.tool_use import Subject, is_within

EFFECTS = ("deny", "ask", "allow")
"""The stronger first."""

SCOPES = ("once", "session", "project", "user", "hub")
"""The narrower first."""

MAX_RULES = 5_000
"""How many rules there may be."""

Untrusted = Callable[[str], bool]
"""Whether a project's folder is one that nobody has said to trust."""


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happens to the uses of a tool that a pattern covers. `scope_id` is the session of a once or session rule, or
    the project; `scope_path` the project's real folder, which with all below it is where a project rule holds."""

    rule_id: str
    effect: str
    pattern: str
    scope: str
    created_at: float
    created_by: str
    scope_id: str | None = None
    scope_path: str | None = None
    expires_at: float | None = None
    note: str | None = None


class Verdict(Struct, frozen=True, kw_only=True):
    """What the rules say, None when they say nothing. `rules` are those that decided, several where a shell line is
    covered by several; `reasons` say why none did, or what spoke against an allow."""

    effect: str | None
    rules: tuple[Rule, ...] = ()
    reasons: tuple[str, ...] = ()


def rank_of(rule: Rule) -> tuple[int, int, str]:
    """Among rules of one effect the lowest decides: the narrower scope, the longer pattern, then the id."""
    return SCOPES.index(rule.scope), -len(rule.pattern), rule.rule_id


def why_idle(rule: Rule, subject: Subject, at: float, untrusted: Untrusted) -> str | None:
    """Why a rule does not hold for this session now; None when it holds. A deny or ask rule that does not say where
    it holds, holds everywhere."""
    if rule.expires_at is not None and rule.expires_at <= at:
        return "has expired"
    scope = rule.scope
    if scope == "project":
        return _why_elsewhere(rule, subject, untrusted)
    if scope == "session" and rule.scope_id is None:
        return "names no session" if rule.effect == "allow" else None
    if scope in ("once", "session") and rule.scope_id not in (None, subject.session_id):
        return "holds for another session"
    return None


def _why_elsewhere(rule: Rule, subject: Subject, untrusted: Untrusted) -> str | None:
    allow = rule.effect == "allow"
    if rule.scope_path is None:
        return "names no project folder" if allow else None
    if not is_within(subject.cwd, rule.scope_path):
        return f"holds in {rule.scope_path}"
    if allow and untrusted(rule.scope_path):
        return "its project is not trusted"
    return None
