"""Applies the rules to requests: the verdict on a request, and the decision an agent gets."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.engine.messages import ResolvedPaths
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.decisions import Allow, Decision, Deny, Source
from quarterdeck.core.model.event_data.admin_data import RuleRemoveData
from quarterdeck.core.model.payload import TOO_LARGE
from quarterdeck.core.model.rule import Rule, Verdict
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import Request, Settings
from quarterdeck.core.model.tool_use import ToolUse
from quarterdeck.core.patterns.rule_words import RULE_WORDS, rule_word
from quarterdeck.core.rules.rulebook import Rulebook
from quarterdeck.core.workspace.folder_trust import is_trusted

DENIED = "Denied by the rule {pattern} in Quarterdeck{why}."
"""The message an agent gets when a rule denies."""

ANSWER_FORMS = frozenset({"questions", "elicitation"})
"""Forms of a request that need an answer, which an allow rule cannot give."""

_latest: list[tuple[dict[str, Rule], Rulebook]] = [({}, Rulebook.of(()))]
CACHE_SIZE = 3
"""Rulebooks to cache. The loop may use one while a thread makes the next."""


def rulebook(rules: dict[str, Rule]) -> Rulebook:
    """The rulebook of a rule table. Tables are replaced, never changed in place, so rulebooks are cached by the
    identity of the table, and the next one is made from the latest."""
    global _latest
    cached = _latest
    for known, book in cached:
        if known is rules:
            return book
    book = cached[0][1].updated(rules)
    _latest = [(rules, book), *cached[: CACHE_SIZE - 1]]
    return book


def tool_use_of(settings: Settings, event: RuntimeEvent, tool_input: dict[str, Any], paths: ResolvedPaths) -> ToolUse:
    """The tool use of a hook event."""
    name = event.tool_name or event.hook_name
    return tool_use_at(settings, event.tool_kind, name, tool_input, event.session_id, paths)


def tool_use_of_request(settings: Settings, request: Request, tool_input: dict[str, Any] | None = None) -> ToolUse:
    """The tool use of a request, as received or with an edited input. The links in an edited path are not resolved."""
    paths = ResolvedPaths(cwd=request.cwd, path=request.path if tool_input is None else None)
    input_used = request.tool_input if tool_input is None else tool_input
    return tool_use_at(settings, request.tool_kind, request.tool_name, input_used, request.session_id, paths)


def tool_use_at(
    settings: Settings, kind: str, tool_name: str, tool_input: dict[str, Any], session_id: str, paths: ResolvedPaths
) -> ToolUse:
    """A tool use with these resolved paths."""
    word = rule_word(kind, tool_name)
    return ToolUse(
        tool_name=word,
        kind=kind,
        own_name="" if word == tool_name or tool_name in RULE_WORDS else tool_name,
        tool_input=tool_input,
        session_id=session_id,
        cwd=paths.cwd,
        home=settings.home,
        path=paths.path,
        case_folds=settings.case_folds,
        in_hub=settings.in_hub,
        quarterdeck_home=settings.quarterdeck_home,
        guarded=tuple(
            path for path in settings.guarded if "/.claude/" not in path and path != settings.quarterdeck_home
        ),
    )


def request_verdict(step: Step, tool_use: ToolUse, form: str | None = None) -> Verdict:
    """The verdict of the current rules. No rule allows an input that was too large to keep."""
    draft = step.draft
    verdict = rulebook(draft.rules).verdict(
        tool_use, step.at, untrusted=lambda folder: not is_trusted(draft.trust, folder, "rules")
    )
    if verdict.effect == "allow" and (form in ANSWER_FORMS or TOO_LARGE in tool_use.tool_input):
        return Verdict(effect=None, reasons=("no rule can answer a question, or allow what was too large to keep",))
    return verdict


def is_decision(verdict: Verdict) -> bool:
    """True if the verdict decides the request, so that no person has to."""
    return verdict.effect in ("allow", "deny")


def close_by_rule(step: Step, request: Request, verdict: Verdict) -> None:
    """Decide a request by the rules. A rule for a single use is removed with it."""
    patterns = ", ".join(rule.pattern for rule in verdict.rules)
    step.resolve(
        request,
        _decision(verdict),
        Source.RULE,
        verdict.rules[0].rule_id,
        rule_ids=[rule.rule_id for rule in verdict.rules],
        pattern=patterns,
    )
    for rule in verdict.rules:
        if rule.scope == "once":
            record_removal(step, rule, "rule", "used")


def record_removal(step: Step, rule: Rule, by: str, why: str) -> None:
    """Record that a rule was removed."""
    data = RuleRemoveData(rule_id=rule.rule_id, by=by, effect=rule.effect, pattern=rule.pattern, why=why)
    step.emit_own("rule.remove", data)


def _decision(verdict: Verdict) -> Decision:
    if verdict.effect == "allow":
        return Allow()
    rule = verdict.rules[0]
    return Deny(DENIED.format(pattern=rule.pattern, why=f": {rule.note}" if rule.note else ""))
