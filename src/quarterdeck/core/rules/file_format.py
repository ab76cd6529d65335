"""Rules as plain data for a file that people edit, and back. A field that means nothing fails the whole."""

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

LONGEST_NOTE = 1000
LATEST = 253402300799.0
"""The last second of the year 9999: calendars go no further."""


class RuleWanted(Struct, frozen=True, kw_only=True):
    """A rule that somebody wrote down; who adds it gives it an id, a time and a name."""

    effect: str
    pattern: str
    scope: str = "user"
    scope_id: str | None = None
    scope_path: str | None = None
    expires_at: float | None = None
    note: str | None = None


_SHORT = Repr()  # a value with aliases may be endless when it is written out
_SHORT.maxlevel = 2
_TEXTS = ("effect", "pattern", "scope", "scope_id", "scope_path", "note")


def write_rules(rules: Iterable[Rule]) -> dict[str, Any]:
    """The rules as plain data, in an order of their own; ids, authors and times of making stay behind."""
    rows = []
    for rule in sorted(rules, key=lambda r: (EFFECTS.index(r.effect), SCOPES.index(r.scope), r.pattern, r.rule_id)):
        row = {name: value for name in RuleWanted.__struct_fields__ if (value := getattr(rule, name)) is not None}
        if rule.expires_at is not None:
            row["expires_at"] = datetime.fromtimestamp(rule.expires_at, UTC).isoformat()
        rows.append(row)
    return {"rules": rows}


def read_rules(data: Any) -> list[RuleWanted]:
    """The rules in the data; BadRules names the first thing that is wrong and where it stands."""
    if not isinstance(data, dict) or not isinstance(data.get("rules"), list):
        raise BadRules("rules: is missing or no list; write rules: and one entry for each")
    if unknown := sorted(map(str, data.keys() - {"rules"})):
        raise BadRules(f"{unknown[0]}: is no field of such a file; it has only rules")
    if (count := len(data["rules"])) > MAX_RULES:
        raise BadRules(f"rules: has {count} entries, and there may be {MAX_RULES} rules; leave some out")
    return [_read_rule(f"rules[{place}]", row) for place, row in enumerate(data["rules"])]


def _read_rule(where: str, row: Any) -> RuleWanted:
    if not isinstance(row, dict):
        raise BadRules(f"{where}: is no set of fields; write effect: and pattern:")
    fields = RuleWanted.__struct_fields__
    for name in row:
        if name not in fields:
            raise BadRules(f"{where}.{name}: is no field of a rule; those are {', '.join(fields)}")
    for name in ("effect", "pattern"):
        if row.get(name) is None:
            raise BadRules(f"{where}.{name}: is missing")
    for name in _TEXTS:
        if row.get(name) is not None and not isinstance(row[name], str):
            raise BadRules(f"{where}.{name}: must be text, is {_SHORT.repr(row[name])}")
    given = {name: value for name, value in row.items() if value is not None}
    wanted = RuleWanted(**{**given, "expires_at": _read_time(f"{where}.expires_at", given.get("expires_at"))})
    check_rule(wanted, where)
    return wanted


def _read_time(where: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(found, date) and not isinstance(found, datetime):
            found = datetime.combine(found, time())
        if isinstance(found, datetime):
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        if isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found):
            return float(found)
    except (ValueError, OverflowError):
        pass
    raise BadRules(f"{where}: must be a time like 2026-12-31T18:00:00+00:00, is {_SHORT.repr(value)}")


def check_rule(wanted: RuleWanted, where: str = "rule") -> None:
    """Refuses a rule of which a field means nothing or is not enforced, naming the field."""
    if wanted.effect not in EFFECTS:
        raise BadRules(f"{where}.effect: must be allow, ask or deny, is {wanted.effect!r}")
    if wanted.scope not in SCOPES:
        raise BadRules(f"{where}.scope: must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}, is {wanted.scope!r}")
    try:
        read_pattern(wanted.pattern, wanted.effect)
    except BadPattern as error:
        raise BadRules(f"{where}.pattern: {error}") from None
    _check_scope(wanted, where)
    if wanted.expires_at is not None and not wanted.expires_at <= LATEST:
        raise BadRules(f"{where}.expires_at: lies beyond the year 9999; leave it out for a rule that stays")
    if wanted.note is not None and len(wanted.note) > LONGEST_NOTE:
        raise BadRules(f"{where}.note: longer than {LONGEST_NOTE} characters")


def _check_scope(wanted: RuleWanted, where: str) -> None:
    """A scope has what it needs, and nothing that would look like a limit and be none."""
    if wanted.scope == "session" and wanted.scope_id is None:
        raise BadRules(f"{where}.scope_id: a session rule names its session")
    if wanted.scope in ("session", "once") and wanted.scope_id is not None and not ID.fullmatch(wanted.scope_id):
        raise BadRules(f"{where}.scope_id: is no id of a session; see: qd sessions")
    if wanted.scope in ("user", "hub") and wanted.scope_id is not None:
        raise BadRules(f"{where}.scope_id: a {wanted.scope} rule holds everywhere; leave it out")
    if wanted.scope == "project":
        path = wanted.scope_path
        if path is None or not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            raise BadRules(f"{where}.scope_path: a project rule names its folder from the root, like /home/me/project")
    elif wanted.scope_path is not None:
        raise BadRules(f"{where}.scope_path: only a project rule has a folder; leave it out, or write scope: project")
