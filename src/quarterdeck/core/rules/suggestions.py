"""Rules that a person's own decisions imply, with the decisions as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.payload import text
from quarterdeck.core.model.rule import Rule
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.rules.pattern_suggestions import suggested_patterns
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.rules.verdicts import tool_use_of_request
from quarterdeck.core.workspace.projects import project_id_of

MIN_DECISIONS = 3
"""Equal decisions that make a habit."""

MAX_COMMAND = 10_000
"""Characters of a command that can become a habit. A rule for a longer one would be of no use."""

MAX_SUGGESTIONS = 20
MAX_EXAMPLES = 3


class Suggestion(Struct, frozen=True, kw_only=True):
    """A rule worth adding. `times`: how often the person decided so. `requests`: the latest of these."""

    effect: str
    pattern: str
    scope: str
    scope_id: str | None
    scope_path: str | None
    times: int
    last_at: float
    requests: tuple[Request, ...]


def suggestions(requests: Iterable[Request], book: Rulebook, settings: Settings, at: float) -> list[Suggestion]:
    """The rules that the decisions imply and that do not exist yet, the most frequent first."""
    decided = [(effect, request) for request in requests if (effect := _decided_effect(request))]
    undecided_by_rules = [
        (effect, request)
        for effect, request in decided
        if len(text(request.tool_input, "command")) <= MAX_COMMAND
        and book.verdict(tool_use_of_request(settings, request), at).effect is None
    ]
    habits = _habits(undecided_by_rules, settings)
    refuted = {
        (effect, pattern)
        for effect in ("allow", "deny")
        for pattern in _refuted(
            effect,
            [pattern for decided_as, pattern, _ in habits if decided_as == effect],
            [tool_use_of_request(settings, request) for decided_as, request in decided if decided_as != effect],
            at,
        )
    }
    results = [_suggestion(*habit) for habit in habits if habit[:2] not in refuted]
    return sorted(_narrowest(results), key=lambda s: (-s.times, s.pattern))[:MAX_SUGGESTIONS]


def _decided_effect(request: Request) -> str | None:
    """The effect of a person's decision; None if it was late, edited, or not a plain allow or deny."""
    decision = request.decision
    if request.kind != "permission" or decision is None or decision.source is not Source.USER:
        return None
    if decision.late or decision.updated_input is not None:
        return None
    return decision.decision_type if decision.decision_type in ("allow", "deny") else None


def _habits(decided: list[tuple[str, Request]], settings: Settings) -> list[tuple[str, str, list[Request]]]:
    by_pattern: dict[tuple[str, str], list[Request]] = {}
    for effect, request in decided:
        for pattern in suggested_patterns(tool_use_of_request(settings, request)):
            by_pattern.setdefault((effect, pattern), []).append(request)
    return [
        (effect, pattern, requests)
        for (effect, pattern), requests in by_pattern.items()
        if len(requests) >= MIN_DECISIONS
    ]


def _refuted(effect: str, patterns: list[str], others: Iterable[ToolUse], at: float) -> set[str]:
    """The patterns that alone would have decided any of these uses. All are tried in one rulebook, so that a use is
    evaluated once, and once more for each pattern that covers it."""
    rules = {pattern: _rule(effect, pattern) for pattern in patterns}
    book = Rulebook.of(rules.values())
    refuted: set[str] = set()
    for tool_use in others:
        covering = _covering_patterns(effect, book, rules, tool_use, at)
        if covering:
            refuted |= covering
            rules = {pattern: rule for pattern, rule in rules.items() if pattern not in covering}
            book = book.updated(rules)
    return refuted


def _covering_patterns(
    effect: str, book: Rulebook, rules: Mapping[str, Rule], tool_use: ToolUse, at: float
) -> set[str]:
    """The patterns of the rules that alone decide this use. Rules that decide it only together are put aside, so that
    they hide none of the others."""
    covering: set[str] = set()
    left = dict(rules)
    while left and (verdict := book.verdict(tool_use, at)).effect == effect:
        named = {rule.rule_id for rule in verdict.rules}
        alone = named if len(named) == 1 else {pattern for pattern in named if _covers(rules[pattern], tool_use, at)}
        covering |= alone
        left = {pattern: rule for pattern, rule in left.items() if pattern not in named}
        book = book.updated(left)
    return covering


def _covers(rule: Rule, tool_use: ToolUse, at: float) -> bool:
    return Rulebook.of([rule]).verdict(tool_use, at).effect == rule.effect


def _rule(effect: str, pattern: str) -> Rule:
    return Rule(rule_id=pattern, effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="?")


def _suggestion(effect: str, pattern: str, requests: list[Request]) -> Suggestion:
    latest = sorted(requests, key=lambda r: -r.seq_no)
    folders = {request.cwd for request in requests}
    folder = folders.pop() if len(folders) == 1 else ""
    return Suggestion(
        effect=effect,
        pattern=pattern,
        scope="project" if folder else "user",
        scope_id=project_id_of(folder),
        scope_path=folder or None,
        times=len(requests),
        last_at=latest[0].opened_at,
        requests=tuple(latest[:MAX_EXAMPLES]),
    )


def _narrowest(candidates: list[Suggestion]) -> list[Suggestion]:
    """Of several suggestions from the same decisions, keep the first, which is the narrowest."""
    kept: dict[tuple[str, int, tuple[str, ...]], Suggestion] = {}
    for suggestion in candidates:
        requests = tuple(request.request_id for request in suggestion.requests)
        kept.setdefault((suggestion.effect, suggestion.times, requests), suggestion)
    return list(kept.values())
