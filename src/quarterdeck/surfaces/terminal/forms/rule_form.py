"""The choices of a rule form, and what a rule means in words; pure."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.text.labels import project_name

Json = dict[str, Any]
RULE_EFFECTS = ("allow", "ask", "deny")
REMEMBER_EFFECTS = ("allow", "deny")
REMEMBER_SCOPES = (("session", "this session"), ("project", "this project"), ("user", "everywhere"))
RULE_LENGTHS = ((None, "forever"), ("1h", "1 hour"), ("1d", "1 day"), ("7d", "7 days"), ("30d", "30 days"))
CLAUDE_SCOPES = (
    (None, "no"),
    ("session", "this session"),
    ("local", "this project, only you"),
    ("project", "this project, shared"),
    ("user", "everywhere"),
)
"""Where Claude Code itself also saves the rule; only for an allow."""


def trust_warning(scope: str, effect: str, trust: str | None, cwd: str) -> str:
    """What saving the rule also does: the first rule of a project makes that project's rules hold."""
    if scope != "project":
        return ""
    if trust is None:
        return f"Saving it also trusts {cwd or 'this folder'} for rules: its allow rules take effect from then on."
    if trust == "none" and effect == "allow":
        return f"{cwd} is not trusted, so an allow rule has no effect there. First: qd projects trust {cwd}"
    return ""


def rule_sentence(effect: str, pattern: str, scope: str, length: str) -> str:
    """The rule as a sentence."""
    scope_words = dict(REMEMBER_SCOPES)[scope]
    place = scope_words if scope == "user" else f"in {scope_words}"
    duration = "" if length == "forever" else f" for {length}"
    return f"Always {effect} {pattern or '…'} {place}{duration}."


def simulation_sentence(result: Json) -> str:
    """The result of a simulation, in words."""
    if not result["seen"]:
        return "There are no past requests to test it on."
    surprises = len(result["surprises"])
    odd = f", {surprises} of them surprising" if surprises else ""
    more = f" (of the last {result['seen']:,})" if result["left"] else ""
    return f"It would have decided {result['decided']:,} of {result['seen']:,} past requests{more}{odd}."


def rule_place(rule: Json, *, whole_path: bool = False) -> str:
    """The place where a rule applies, in words; a project by its name or by its whole path."""
    path = rule["scope_path"] or ""
    session = f"session {rule['scope_id'][:8]}" if rule["scope_id"] else "any session"
    places = {
        "once": f"{session}, once",
        "session": session,
        "project": f"in {path if whole_path else project_name(path)}",
        "user": "everywhere",
        "hub": "on every machine",
    }
    return places.get(rule["scope"], str(rule["scope"]))
