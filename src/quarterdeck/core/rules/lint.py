"""Problems in a set of rules, in words: rules without effect, rules that are too broad, rules that repeat another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from quarterdeck.core.model.rule import EFFECTS, NO_HUB, Rule
from quarterdeck.core.model.tool_use import is_within
from quarterdeck.core.patterns.command_patterns import CommandPattern
from quarterdeck.core.patterns.coverage import coverage
from quarterdeck.core.patterns.path_patterns import PathPattern
from quarterdeck.core.patterns.pattern import DomainPattern, McpPattern, Pattern, WholeToolPattern
from quarterdeck.core.patterns.rule_words import BASH, EDIT, EDITS
from quarterdeck.core.programs.registry import program
from quarterdeck.core.rules.broader_rules import BroaderRules
from quarterdeck.core.rules.index import IndexedRule
from quarterdeck.core.rules.pattern_suggestions import command_prefix
from quarterdeck.core.rules.rulebook import Rulebook


class LintFinding(Struct, frozen=True, kw_only=True):
    """One problem to fix. `kind`: unreadable, expired, nowhere, duplicate, shadowed, needless, narrow or broad.
    `rule_ids`: the rule with the problem, then the rule it conflicts with."""

    kind: str
    text: str
    rule_ids: tuple[str, ...]


def lint(rules: Iterable[Rule], at: float | None = None, *, in_hub: bool = True) -> list[LintFinding]:
    """All findings. Without `at`, expired rules are not reported. `in_hub`: the machine belongs to a hub."""
    book = Rulebook.of(rules)
    results = [
        LintFinding(kind="unreadable", text=f"{_label(rule)} never matches: {reason}", rule_ids=(rule.rule_id,))
        for rule, reason in book.unreadable
    ]
    live = []
    for entry in book.entries:
        if at is not None and entry.rule.expires_at is not None and entry.rule.expires_at <= at:
            results.append(_single_finding("expired", entry, "has expired; remove it, or give it a later end"))
        else:
            live.append(entry)
    if not in_hub:
        results += [_single_finding("nowhere", e, f"never matches: {NO_HUB}") for e in live if _allows_in_hub(e.rule)]
        live = [entry for entry in live if not _allows_in_hub(entry.rule)]
    return [*results, *_single_findings(live), *_pair_findings(live)]


def _allows_in_hub(rule: Rule) -> bool:
    return rule.effect == "allow" and rule.scope == "hub"


def _single_findings(live: Iterable[IndexedRule]) -> Iterator[LintFinding]:
    for entry in live:
        if entry.rule.effect != "allow":
            continue
        if entry.rule.scope == "session" and entry.rule.scope_id is None:
            yield _single_finding("nowhere", entry, "names no session and so never matches")
        if entry.rule.scope == "project" and entry.rule.scope_path is None:
            yield _single_finding("nowhere", entry, "names no project folder and so never matches")
        if problem := _too_broad(entry.pattern):
            yield _single_finding("broad", entry, problem)
        if entry.rule.pattern.strip().endswith("(**)") and isinstance(entry.pattern.form, PathPattern):
            everything = f"{entry.pattern.tools[0]}(//**)"
            problem = f"covers the folder of the session only; write {entry.pattern.text}, or {everything} for all"
            yield _single_finding("narrow", entry, problem)


def _too_broad(pattern: Pattern) -> str:
    form = pattern.form
    if isinstance(form, WholeToolPattern) and BASH in pattern.tools:
        return f"allows every clear shell command; write {BASH}(command:*) for those you mean"
    if isinstance(form, WholeToolPattern) and any(tool in EDITS for tool in pattern.tools):
        return f"allows changing any file; write {EDIT}(src/**) for those you mean"
    if isinstance(form, CommandPattern) and form.open_end and not command_prefix(form.words):
        words = " ".join(form.words)
        if coverage(f"{BASH}({words}:*)").startswith("covers whatever") or program(form.words[0]) is None:
            return f"lets {words} do whatever its arguments say; name more of the command"
        return f"names only {words} and {coverage(f'{BASH}({words}:*)')}"
    return ""


def _pair_findings(live: list[IndexedRule]) -> Iterator[LintFinding]:
    """Yield rules that another rule makes pointless. Each is reported once, for the strongest reason."""
    broader = BroaderRules(live)
    for entry in live:
        stronger = (other for other in broader.candidates(entry) if other is not entry and covers_rule(other, entry))
        yield from islice(filter(None, (_pair_finding(entry, other) for other in stronger)), 1)


def covers_rule(other: IndexedRule, entry: IndexedRule) -> bool:
    """True if the other rule applies wherever the one does, and covers everything it covers."""
    return _reaches(other.rule, entry.rule) and includes(other.pattern, entry.pattern)


def _pair_finding(entry: IndexedRule, other: IndexedRule) -> LintFinding | None:
    """The finding about a rule that another covers; None if both have a use."""
    same = entry.pattern.text == other.pattern.text and _reaches(entry.rule, other.rule)
    if other.rule.effect != entry.rule.effect:
        if EFFECTS.index(other.rule.effect) < EFFECTS.index(entry.rule.effect):
            return _against_other("shadowed", entry, other, f"never decides, because {_label(other.rule)} is stronger")
        return None
    if same:
        return (
            _against_other("duplicate", entry, other, f"repeats {_label(other.rule)}")
            if _is_later(entry, other)
            else None
        )
    if other.rule.expires_at is None:
        return _against_other("needless", entry, other, f"adds nothing to {_label(other.rule)}")
    return None


def _is_later(entry: IndexedRule, other: IndexedRule) -> bool:
    """True if the first of two duplicates is the one to report."""
    return (entry.rule.expires_at is not None, entry.rule.created_at, entry.rule.rule_id) > (
        other.rule.expires_at is not None,
        other.rule.created_at,
        other.rule.rule_id,
    )


def _reaches(rule: Rule, other: Rule) -> bool:
    """True if the rule applies wherever and as long as the other does."""
    if rule.expires_at is not None and (other.expires_at is None or other.expires_at > rule.expires_at):
        return rule.effect == other.effect and rule.pattern == other.pattern and rule.scope == other.scope
    if rule.scope in ("user", "hub"):
        return True
    if rule.scope == "project" and other.scope == "project":
        return bool(rule.scope_path and other.scope_path and is_within(other.scope_path, rule.scope_path))
    return rule.scope == other.scope == "session" and rule.scope_id == other.scope_id


def includes(broad: Pattern, narrow: Pattern) -> bool:
    """True if the broad pattern certainly covers everything the narrow one covers. When in doubt, false."""
    if broad.text == narrow.text:
        return True
    if isinstance(broad.form, WholeToolPattern):
        return set(narrow.tools) <= set(broad.tools)
    match broad.form, narrow.form:
        case CommandPattern(), CommandPattern():
            words = broad.form.words
            return broad.form.open_end and bool(words) and narrow.form.words[: len(words)] == words
        case PathPattern(), PathPattern():
            return set(narrow.tools) <= set(broad.tools) and _folder_includes(broad.form, narrow.form)
        case McpPattern(), McpPattern() | WholeToolPattern():
            return broad.form.every and f"{narrow.tools[0]}__".startswith(f"{broad.form.name}__")
        case DomainPattern(), DomainPattern():
            return broad.form.below and narrow.form.host.endswith("." + broad.form.host)
        case _:
            return False


def _folder_includes(broad: PathPattern, narrow: PathPattern) -> bool:
    """True if the broad pattern is a whole folder in which the narrow one starts."""
    whole = broad.parts[-1:] == ("**",) and broad.prefix.count("/") + bool(broad.prefix) == len(broad.parts) - 1
    inside = narrow.prefix == broad.prefix or is_within(f"/{narrow.prefix}", f"/{broad.prefix}")
    return whole and inside and broad.base is narrow.base and len(narrow.parts) >= len(broad.parts)


def _label(rule: Rule) -> str:
    return f"{rule.effect} {rule.pattern} ({rule.scope})"


def _single_finding(kind: str, entry: IndexedRule, text: str) -> LintFinding:
    return LintFinding(kind=kind, text=f"{_label(entry.rule)} {text}", rule_ids=(entry.rule.rule_id,))


def _against_other(kind: str, entry: IndexedRule, other: IndexedRule, text: str) -> LintFinding:
    return LintFinding(
        kind=kind, text=f"{_label(entry.rule)} {text}", rule_ids=(entry.rule.rule_id, other.rule.rule_id)
    )
