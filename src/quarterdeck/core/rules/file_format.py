"""Rules as plain data for a file that people edit, and back. One invalid field rejects the whole file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from math import isfinite
from reprlib import Repr
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import ID
from quarterdeck.core.model.rule import EFFECTS, MAX_RULES, SCOPES, Rule
from quarterdeck.core.patterns.pattern import read_pattern
from quarterdeck.errors import BadPattern, BadRules

MAX_NOTE = 1000
MAX_TIME = 253402300799.0
"""The last second of the year 9999, the last that `datetime` knows."""


class RuleSpec(Struct, frozen=True, kw_only=True):
    """A rule as written by a person. ID, time and author are set when it is added."""

    effect: str
    pattern: str
    scope: str = "user"
    scope_id: str | None = None
    scope_path: str | None = None
    expires_at: float | None = None
    note: str | None = None


_SHORT_REPR = Repr()  # a YAML value with aliases can grow without bound when written out
_SHORT_REPR.maxlevel = 2
_TEXTS = ("effect", "pattern", "scope", "scope_id", "scope_path", "note")


def write_rules(rules: Iterable[Rule]) -> dict[str, Any]:
    """Write the rules as plain data, in a fixed order, without IDs, authors and creation times."""
    rows = []
    for rule in sorted(rules, key=lambda r: (EFFECTS.index(r.effect), SCOPES.index(r.scope), r.pattern, r.rule_id)):
        row = {name: value for name in RuleSpec.__struct_fields__ if (value := getattr(rule, name)) is not None}
        if rule.expires_at is not None:
            row["expires_at"] = datetime.fromtimestamp(rule.expires_at, UTC).isoformat()
        rows.append(row)
    return {"rules": rows}


def read_rules(data: Any) -> list[RuleSpec]:
    """Read the rules in the data. BadRules names the first invalid field and its place."""
    if not isinstance(data, dict) or not isinstance(data.get("rules"), list):
        raise BadRules("rules: is missing or not a list; write rules: and one entry for each rule")
    if unknown := sorted(map(str, data.keys() - {"rules"})):
        raise BadRules(f"{unknown[0]}: is not a field of a rules file; its only field is rules")
    if (count := len(data["rules"])) > MAX_RULES:
        raise BadRules(f"rules: has {count} entries, but there may be only {MAX_RULES} rules; leave some out")
    return [_read_rule(f"rules[{place}]", row) for place, row in enumerate(data["rules"])]


def _read_rule(where: str, row: Any) -> RuleSpec:
    if not isinstance(row, dict):
        raise BadRules(f"{where}: is not a set of fields; write effect: and pattern:")
    fields = RuleSpec.__struct_fields__
    for name in row:
        if name not in fields:
            raise BadRules(f"{where}.{name}: is not a field of a rule; the fields are {', '.join(fields)}")
    for name in ("effect", "pattern"):
        if row.get(name) is None:
            raise BadRules(f"{where}.{name}: is missing")
    for name in _TEXTS:
        if row.get(name) is not None and not isinstance(row[name], str):
            raise BadRules(f"{where}.{name}: must be text, is {_SHORT_REPR.repr(row[name])}")
    values = {name: value for name, value in row.items() if value is not None}
    spec = RuleSpec(**{**values, "expires_at": _read_time(f"{where}.expires_at", values.get("expires_at"))})
    check_rule(spec, where)
    return spec


def _read_time(where: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        time_value = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(time_value, date) and not isinstance(time_value, datetime):
            time_value = datetime.combine(time_value, time())
        if isinstance(time_value, datetime):
            return (time_value if time_value.tzinfo else time_value.replace(tzinfo=UTC)).timestamp()
        if isinstance(time_value, int | float) and not isinstance(time_value, bool) and isfinite(time_value):
            return float(time_value)
    except (ValueError, OverflowError):
        pass
    raise BadRules(f"{where}: must be a time like 2026-12-31T18:00:00+00:00, is {_SHORT_REPR.repr(value)}")


def check_rule(spec: RuleSpec, where: str = "rule") -> None:
    """Refuse a rule with a field that is invalid or would not be enforced. BadRules names the field."""
    if spec.effect not in EFFECTS:
        raise BadRules(f"{where}.effect: must be allow, ask or deny, is {spec.effect!r}")
    if spec.scope not in SCOPES:
        raise BadRules(f"{where}.scope: must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}, is {spec.scope!r}")
    try:
        read_pattern(spec.pattern, spec.effect)
    except BadPattern as error:
        raise BadRules(f"{where}.pattern: {error}") from None
    _check_scope(spec, where)
    if spec.expires_at is not None and not spec.expires_at <= MAX_TIME:
        raise BadRules(f"{where}.expires_at: is after the year 9999; leave it out for a rule that never expires")
    if spec.note is not None and len(spec.note) > MAX_NOTE:
        raise BadRules(f"{where}.note: longer than {MAX_NOTE} characters")


def _check_scope(spec: RuleSpec, where: str) -> None:
    """Check that a scope has what it needs, and nothing that looks like a limit but has no effect."""
    if spec.scope == "session" and spec.scope_id is None:
        raise BadRules(f"{where}.scope_id: a session rule must name its session")
    if spec.scope in ("session", "once") and spec.scope_id is not None and not ID.fullmatch(spec.scope_id):
        raise BadRules(f"{where}.scope_id: is not a session ID; see: qd sessions")
    if spec.scope in ("user", "hub") and spec.scope_id is not None:
        raise BadRules(f"{where}.scope_id: a {spec.scope} rule applies everywhere; leave it out")
    if spec.scope == "project":
        path = spec.scope_path
        if path is None or not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise BadRules(
                f"{where}.scope_path: a project rule must name its folder as an absolute path, like /home/me/project"
            )
    elif spec.scope_path is not None:
        raise BadRules(f"{where}.scope_path: only a project rule has a folder; leave it out, or write scope: project")
