"""Rules that a person's own decisions imply, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from quarterdeck.core.decisions import Source
from quarterdeck.core.judging import subject_of_request
from quarterdeck.core.projects import project_id_of
from quarterdeck.core.remembering import patterns_for
from quarterdeck.core.rule import Rule
from quarterdeck.core.rules import Rulebook
from quarterdeck.core.state import Request, Settings

AT_LEAST = 3
"""So many decisions the same way make a habit."""

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
        if book.verdict(subject_of_request(settings, request), at).effect is None
    ]
    found: list[Suggestion] = []
    for effect, pattern, those in _habits(open_ones, settings):
        against = [r for other, r in decided if other != effect and r.tool_name == those[0].tool_name]
        if not _covers_any(effect, pattern, against, settings, at):
            found.append(_suggestion(effect, pattern, those))
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


def _covers_any(effect: str, pattern: str, requests: list[Request], settings: Settings, at: float) -> bool:
    book = Rulebook.of([_rule(effect, pattern)])
    return any(book.verdict(subject_of_request(settings, r), at).effect == effect for r in requests)


def _rule(effect: str, pattern: str) -> Rule:
    return Rule(rule_id="?", effect=effect, pattern=pattern, scope="user", created_at=0.0, created_by="?")


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
