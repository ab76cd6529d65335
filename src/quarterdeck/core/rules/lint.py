"""What is wrong with a set of rules, in words: those that say nothing, too much, or what another rule says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from quarterdeck.core.model.rule import EFFECTS, Rule
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.core.patterns.commands import Command
from quarterdeck.core.patterns.paths import Files
from quarterdeck.core.patterns.pattern import EDITS, Domain, Pattern, Server, Whole
from quarterdeck.core.rules.broader_rules import Broader
from quarterdeck.core.rules.index import Bound
from quarterdeck.core.rules.pattern_suggestions import telling_words
from quarterdeck.core.rules.rulebook import Rulebook


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to mend. `kind` is unreadable, expired, nowhere, duplicate, shadowed, needless or broad; the rule it
    is about comes first in `rule_ids`, then the one it stands against."""

    kind: str
    text: str
    rule_ids: tuple[str, ...]


def findings(rules: Iterable[Rule], at: float | None = None) -> list[Finding]:
    """All findings; without `at` nothing is said about what has expired."""
    book = Rulebook.of(rules)
    found = [
        Finding(kind="unreadable", text=f"{_said(rule)} never matches: {why}", rule_ids=(rule.rule_id,))
        for rule, why in book.unread
    ]
    live = []
    for one in book.bound:
        if at is not None and one.rule.expires_at is not None and one.rule.expires_at <= at:
            found.append(_about("expired", one, "has expired; remove it, or give it a later end"))
        else:
            live.append(one)
    return [*found, *_alone(live), *_pairs(live)]


def _alone(live: Iterable[Bound]) -> Iterator[Finding]:
    for one in live:
        if one.rule.effect != "allow":
            continue
        if one.rule.scope == "session" and one.rule.scope_id is None:
            yield _about("nowhere", one, "names no session and so never matches")
        if one.rule.scope == "project" and one.rule.scope_path is None:
            yield _about("nowhere", one, "names no project folder and so never matches")
        if why := _too_broad(one.pattern):
            yield _about("broad", one, why)


def _too_broad(pattern: Pattern) -> str:
    form = pattern.form
    if isinstance(form, Whole) and "Bash" in pattern.tools:
        return "allows every clear shell command; write Bash(command:*) for those you mean"
    if isinstance(form, Whole) and any(tool in EDITS for tool in pattern.tools):
        return "allows changing any file; write Edit(src/**) for those you mean"
    if isinstance(form, Command) and form.open_end and not telling_words(form.words):
        return f"lets {' '.join(form.words)} do whatever its arguments say; name more of the command"
    return ""


def _pairs(live: list[Bound]) -> Iterator[Finding]:
    """Rules that another one takes the meaning from. Each rule is named once, for the strongest reason."""
    known = Broader(live)
    for one in live:
        stronger = (other for other in known.around(one) if other is not one and takes_all(other, one))
        yield from islice(filter(None, (_between(one, other) for other in stronger)), 1)


def takes_all(other: Bound, one: Bound) -> bool:
    """Whether the other rule holds wherever the one does, and is about all that it is about."""
    return _reaches(other.rule, one.rule) and includes(other.pattern, one.pattern)


def _between(one: Bound, other: Bound) -> Finding | None:
    """What it means that the other rule holds wherever the one does."""
    same = one.pattern.text == other.pattern.text and _reaches(one.rule, other.rule)
    if other.rule.effect != one.rule.effect:
        if EFFECTS.index(other.rule.effect) < EFFECTS.index(one.rule.effect):
            return _against("shadowed", one, other, f"never decides, for {_said(other.rule)} is stronger")
        return None
    if same:
        return _against("duplicate", one, other, f"says what {_said(other.rule)} says") if _later(one, other) else None
    if other.rule.expires_at is None:
        return _against("needless", one, other, f"adds nothing to {_said(other.rule)}")
    return None


def _later(one: Bound, other: Bound) -> bool:
    """Of two that are the same, the one to name."""
    return (one.rule.expires_at is not None, one.rule.created_at, one.rule.rule_id) > (
        other.rule.expires_at is not None,
        other.rule.created_at,
        other.rule.rule_id,
    )


def _reaches(rule: Rule, other: Rule) -> bool:
    """Whether the rule holds wherever the other does."""
    if rule.expires_at is not None and (other.expires_at is None or other.expires_at > rule.expires_at):
        return rule.effect == other.effect and rule.pattern == other.pattern and rule.scope == other.scope
    if rule.scope in ("user", "hub"):
        return True
    if rule.scope == "project" and other.scope == "project":
        return bool(rule.scope_path and other.scope_path and is_within(other.scope_path, rule.scope_path))
    return rule.scope == other.scope == "session" and rule.scope_id == other.scope_id


def includes(broad: Pattern, narrow: Pattern) -> bool:
    """Whether the one is surely about all that the other is about. What cannot be told is no."""
    if broad.text == narrow.text:
        return True
    if isinstance(broad.form, Whole):
        return set(narrow.tools) <= set(broad.tools)
    match broad.form, narrow.form:
        case Command(), Command():
            words = broad.form.words
            return broad.form.open_end and bool(words) and narrow.form.words[: len(words)] == words
        case Files(), Files():
            return set(narrow.tools) <= set(broad.tools) and _folder_holds(broad.form, narrow.form)
        case Server(), Server() | Whole():
            return broad.form.every and f"{narrow.tools[0]}__".startswith(f"{broad.form.name}__")
        case Domain(), Domain():
            return broad.form.below and narrow.form.host.endswith("." + broad.form.host)
        case _:
            return False


def _folder_holds(broad: Files, narrow: Files) -> bool:
    """Whether the broad one is all of a folder in which the narrow one starts."""
    whole = broad.parts[-1:] == ("**",) and broad.prefix.count("/") + bool(broad.prefix) == len(broad.parts) - 1
    inside = narrow.prefix == broad.prefix or is_within(f"/{narrow.prefix}", f"/{broad.prefix}")
    return whole and inside and broad.base is narrow.base and len(narrow.parts) >= len(broad.parts)


def _said(rule: Rule) -> str:
    return f"{rule.effect} {rule.pattern} ({rule.scope})"


def _about(kind: str, one: Bound, text: str) -> Finding:
    return Finding(kind=kind, text=f"{_said(one.rule)} {text}", rule_ids=(one.rule.rule_id,))


def _against(kind: str, one: Bound, other: Bound, text: str) -> Finding:
    return Finding(kind=kind, text=f"{_said(one.rule)} {text}", rule_ids=(one.rule.rule_id, other.rule.rule_id))
