"""Rules that a person's own decisions imply, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.payload import text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.rules.pattern_suggestions import patterns_for
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import subject_of_request
from quarterdeck.core.workspace.projects import project_id_of

AT_LEAST = 3
"""So many decisions the same way make a habit."""

LONGEST = 10_000
"""Characters of a command that can be a habit; nobody would save a rule as long as that."""

MOST = 20
EXAMPLES = 3


class Suggestion(Struct, frozen=True, kw_only=True):
    """A rule worth making: `times` the person decided so, `requests` are the latest of them."""

    effect: str
    pattern: str
    scope: str
    scope_id: str | None
    scope_path: str | None
    times: int
    last_at: float
    requests: tuple[Request, ...]


def suggestions(requests: Iterable[Request], book: Rulebook, settings: Settings, at: float) -> list[Suggestion]:
    """What the decisions imply and no rule says yet, the most frequent first."""
    decided = [(effect, request) for request in requests if (effect := _decided(request))]
    open_ones = [
        (effect, request)
        for effect, request in decided
        if len(text(request.tool_input, "command")) <= LONGEST
        and book.verdict(subject_of_request(settings, request), at).effect is None
    ]
    habits = _habits(open_ones, settings)
    refuted = {
        (effect, pattern)
        for effect in ("allow", "deny")
        for pattern in _refuted(
            effect,
            [pattern for way, pattern, _ in habits if way == effect],
            [subject_of_request(settings, request) for way, request in decided if way != effect],
            at,
        )
    }
    found = [_suggestion(*habit) for habit in habits if habit[:2] not in refuted]
    return sorted(_narrowest(found), key=lambda s: (-s.times, s.pattern))[:MOST]


def _decided(request: Request) -> str | None:
    """How a person decided it, where the decision speaks for itself."""
    decision = request.decision
    if request.kind != "permission" or decision is None or decision.source is not Source.USER:
        return None
    if decision.late or decision.updated_input is not None:
        return None
    return decision.decision_type if decision.decision_type in ("allow", "deny") else None


def _habits(decided: list[tuple[str, Request]], settings: Settings) -> list[tuple[str, str, list[Request]]]:
    by_pattern: dict[tuple[str, str], list[Request]] = {}
    for effect, request in decided:
        for pattern in patterns_for(subject_of_request(settings, request)):
            by_pattern.setdefault((effect, pattern), []).append(request)
    return [(effect, pattern, those) for (effect, pattern), those in by_pattern.items() if len(those) >= AT_LEAST]


def _refuted(effect: str, patterns: list[str], others: Iterable[Subject], at: float) -> set[str]:
    """The patterns that alone would have decided any of these uses. All are tried at once, so that a use is read once
    and once more for each that covers it, however many there are."""
    rules = {pattern: _rule(effect, pattern) for pattern in patterns}
    book = Rulebook.of(rules.values())
    gone: set[str] = set()
    for subject in others:
        covering = _covering(effect, book, rules, subject, at)
        if covering:
            gone |= covering
            rules = {pattern: rule for pattern, rule in rules.items() if pattern not in covering}
            book = book.changed(rules)
    return gone


def _covering(effect: str, book: Rulebook, rules: Mapping[str, Rule], subject: Subject, at: float) -> set[str]:
    """Those of the rules that alone decide this use. What only several decide together hides none of them."""
    found: set[str] = set()
    left = dict(rules)
    while left and (verdict := book.verdict(subject, at)).effect == effect:
        named = {rule.rule_id for rule in verdict.rules}
        alone = named if len(named) == 1 else {one for one in named if _covers(rules[one], subject, at)}
        found |= alone
        left = {pattern: rule for pattern, rule in left.items() if pattern not in named}
        book = book.changed(left)
    return found


def _covers(rule: Rule, subject: Subject, at: float) -> bool:
    return Rulebook.of([rule]).verdict(subject, at).effect == rule.effect


def _rule(effect: str, pattern: str) -> Rule:
    return Rule(rule_id=pattern, effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="?")


def _suggestion(effect: str, pattern: str, those: list[Request]) -> Suggestion:
    latest = sorted(those, key=lambda r: -r.seq_no)
    folders = {request.cwd for request in those}
    folder = folders.pop() if len(folders) == 1 else ""
    return Suggestion(
        effect=effect,
        pattern=pattern,
        scope="project" if folder else "user",
        scope_id=project_id_of(folder),
        scope_path=folder or None,
        times=len(those),
        last_at=latest[0].opened_at,
        requests=tuple(latest[:EXAMPLES]),
    )


def _narrowest(found: list[Suggestion]) -> list[Suggestion]:
    """Of several that rest on the same decisions the first, which is the narrowest, stays."""
    kept: dict[tuple[str, int, tuple[str, ...]], Suggestion] = {}
    for one in found:
        kept.setdefault((one.effect, one.times, tuple(r.request_id for r in one.requests)), one)
    return list(kept.values())
