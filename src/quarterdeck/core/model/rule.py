"""One rule, where and when it applies, and the verdict of several rules."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from quarterdeck.core.model.tool_use import ToolUse, is_within

EFFECTS = ("deny", "ask", "allow")
"""Strongest first."""

SCOPES = ("once", "session", "project", "user", "hub")
"""Narrowest first."""

OFFERED_SCOPES = SCOPES[:-1]
"""The scopes in which a decision can be remembered: a rule with the scope `hub` is made at the hub."""

MAX_RULES = 5_000
"""Limit of the whole table: every request is matched against it."""

ONLY_SESSION = "holds only for session"
"""The beginning of the reason why a rule of another session does not apply."""

HUB_PREFIX = "hub_"
"""Begins the id of a rule that was made at the hub."""

NO_HUB = "this machine has joined no hub"

Untrusted = Callable[[str], bool]
"""True for a folder that is not trusted for rules."""


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The effect on tool uses that a pattern covers. `scope_id` is the session of a once or session rule, or the id of
    the project; `scope_path` is the project's real folder: a project rule applies in it and below it."""

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
    """The answer of the rules; an `effect` of None means no rule applies. `rules` are those that decided: several when
    each covers a part of a shell line. `reasons` say why none did, or what ruled out an allow."""

    effect: str | None
    rules: tuple[Rule, ...] = ()
    reasons: tuple[str, ...] = ()


def precedence(rule: Rule) -> tuple[int, int, str]:
    """A sort key: among rules of one effect the lowest decides. Narrower scope first, then longer pattern, then id."""
    return SCOPES.index(rule.scope), -len(rule.pattern), rule.rule_id


def inactive_reason(rule: Rule, subject: ToolUse, at: float, untrusted: Untrusted) -> str | None:
    """The reason why a rule does not apply to this session now; None when it applies. A deny or ask rule without a
    place, or without the hub it is of, applies everywhere: to miss one would be unsafe."""
    if rule.expires_at is not None and rule.expires_at <= at:
        return "has expired"
    scope = rule.scope
    if scope == "project":
        return _project_reason(rule, subject, untrusted)
    if scope == "hub":
        return NO_HUB if rule.effect == "allow" and not subject.in_hub else None
    if scope == "session" and rule.scope_id is None:
        return "names no session" if rule.effect == "allow" else None
    if scope in ("once", "session") and rule.scope_id not in (None, subject.session_id):
        return f"{ONLY_SESSION} {(rule.scope_id or '')[:8]}"
    return None


def _project_reason(rule: Rule, subject: ToolUse, untrusted: Untrusted) -> str | None:
    allow = rule.effect == "allow"
    if rule.scope_path is None:
        return "names no project folder" if allow else None
    if not is_within(subject.cwd, rule.scope_path):
        return f"holds in {rule.scope_path}"
    if allow and (untrusted(rule.scope_path) or untrusted(subject.cwd)):  # a folder below may be trusted less
        return "its project is not trusted"
    return None
