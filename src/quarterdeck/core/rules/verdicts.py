"""What the rules say about a request, and what an agent is told when they decide."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.engine.messages import Places
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.decisions import Allow, Decision, Deny, Source
from quarterdeck.core.model.event_data import RuleRemoveData
from quarterdeck.core.model.payload import TOO_LARGE
from quarterdeck.core.model.rule import Rule, Verdict
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.tool_use import Subject
from quarterdeck.core.rules.rulebook import Rulebook

DENIED = "Denied by the rule {pattern} in Quarterdeck{why}."
"""What the agent reads when a rule denies."""

UNTRUSTED = "none"
NEVER_ALLOWED = frozenset({"questions", "elicitation"})
"""Forms of a request that want an answer: an allow would answer nothing."""

_latest: list[tuple[dict[str, Rule], Rulebook]] = [({}, Rulebook.of(()))]
KEPT = 3
"""Of how many tables the book is kept: one may be read on the loop while a thread makes the next."""


def rulebook(rules: dict[str, Rule]) -> Rulebook:
    """The rules read and indexed. Tables are replaced, never changed, so the latest ones are kept by identity, and the
    next one is made from the last."""
    global _latest
    kept = _latest
    for known, book in kept:
        if known is rules:
            return book
    book = kept[0][1].changed(rules)
    _latest = [(rules, book), *kept[: KEPT - 1]]
    return book


def subject_of(settings: Settings, event: RuntimeEvent, tool_input: dict[str, Any], places: Places) -> Subject:
    """What an agent asks about."""
    return subject_at(settings, event.tool_name or event.hook_name, tool_input, event.session_id, places)


def subject_of_request(settings: Settings, request: Request, tool_input: dict[str, Any] | None = None) -> Subject:
    """What a request asks about, as asked or with an edited input; of an edit nobody has followed the links."""
    places = Places(cwd=request.cwd, path=request.path if tool_input is None else None)
    asked = request.tool_input if tool_input is None else tool_input
    return subject_at(settings, request.tool_name, asked, request.session_id, places)


def subject_at(
    settings: Settings, tool_name: str, tool_input: dict[str, Any], session_id: str, places: Places
) -> Subject:
    """A use of a tool in these places."""
    return Subject(
        tool_name=tool_name,
        tool_input=tool_input,
        session_id=session_id,
        cwd=places.cwd,
        home=settings.home,
        path=places.path,
        case_folds=settings.case_folds,
        our_home=settings.our_home,
        guarded=tuple(place for place in settings.guarded if "/.claude/" not in place and place != settings.our_home),
    )


def judge(step: Step, subject: Subject, form: str | None = None) -> Verdict:
    """What the rules say now. What was too large to keep is allowed by none."""
    draft = step.draft
    verdict = rulebook(draft.rules).verdict(
        subject, step.at, untrusted=lambda folder: draft.trust.get(folder) == UNTRUSTED
    )
    if verdict.effect == "allow" and (form in NEVER_ALLOWED or TOO_LARGE in subject.tool_input):
        return Verdict(effect=None, reasons=("no rule allows what wants an answer or was too large to keep",))
    return verdict


def decides(verdict: Verdict) -> bool:
    """Whether nobody has to be asked."""
    return verdict.effect in ("allow", "deny")


def close_by_rule(step: Step, request: Request, verdict: Verdict) -> None:
    """Decide a request as the rules say; one that held for a single use is gone with it."""
    patterns = ", ".join(rule.pattern for rule in verdict.rules)
    step.close(
        request,
        _decision(verdict),
        Source.RULE,
        verdict.rules[0].rule_id,
        rule_ids=[rule.rule_id for rule in verdict.rules],
        pattern=patterns,
    )
    for rule in verdict.rules:
        if rule.scope == "once":
            remove(step, rule, "rule", "used")


def remove(step: Step, rule: Rule, by: str, why: str) -> None:
    """Record that a rule is gone."""
    gone = RuleRemoveData(rule_id=rule.rule_id, by=by, effect=rule.effect, pattern=rule.pattern, why=why)
    step.emit_own("rule.remove", gone)


def _decision(verdict: Verdict) -> Decision:
    if verdict.effect == "allow":
        return Allow()
    rule = verdict.rules[0]
    return Deny(DENIED.format(pattern=rule.pattern, why=f": {rule.note}" if rule.note else ""))
