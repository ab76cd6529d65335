"""The gate before a tool call: what the rules say of it is done, in whatever way the agent came to ask."""

from __future__ import annotations

from quarterdeck.core.engine.messages import Answer, Heard
from quarterdeck.core.engine.step import Step, decision_told
from quarterdeck.core.handlers.requests import context_of, form_of, judge_heard, open_request, shows_its_dialog
from quarterdeck.core.model.decisions import Ask, Deny, Source
from quarterdeck.core.model.payload import TOO_LARGE, obj
from quarterdeck.core.model.rule import Verdict
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.verdicts import close_by_rule, rulebook

UNJUDGED = "Denied by Quarterdeck: the input is too large to be judged."


def decide_before(step: Step, heard: Heard) -> bool:
    """Decide a call that is about to run: True when the agent is answered or waits, else it goes its own way. A deny
    holds wherever it is heard; an ask and an allow only at the gate, because elsewhere the agent asks by itself."""
    event = heard.event
    told = _told_before(step, event)
    if told is not None and (heard.enforced or isinstance(decision_told(told), Deny)):
        step.effects.append(Answer(event_id=event.id, decision=decision_told(told), request=told))
        return True
    if not heard.enforced and not rulebook(step.draft.rules).denies_anything:
        return False
    verdict = judge_heard(step, heard)
    if verdict.effect == "deny" or (heard.enforced and verdict.effect == "allow" and not form_of(event)):
        close_by_rule(step, open_request(step, heard, held=False, enforced=heard.enforced), verdict)
        return True
    return heard.enforced and not form_of(event) and _ask_first(step, heard, verdict)


def _ask_first(step: Step, heard: Heard, verdict: Verdict) -> bool:
    """A person decides: at the desk when the agent shows no dialog and somebody attends, else where the agent asks.
    An agent with a dialog then also asks for permission, and is held beside it."""
    if TOO_LARGE in obj(heard.event.payload, "tool_input"):
        request = open_request(step, heard, held=False, enforced=True)
        step.close(request, Deny(UNJUDGED), Source.RULE, "limits")
        return True
    if verdict.effect is None:
        return False
    held = _holds(step, heard)
    request = open_request(step, heard, held=held, enforced=True)
    if not held:
        _send_to_dialog(step, heard, request, verdict)
    return True


def _send_to_dialog(step: Step, heard: Heard, request: Request, verdict: Verdict) -> None:
    patterns = ", ".join(rule.pattern for rule in verdict.rules)
    why = f"the rule {patterns} asks for a decision" if patterns else ", ".join(verdict.reasons)
    step.close(
        request,
        Ask(why),
        Source.RULE,
        verdict.rules[0].rule_id if verdict.rules else "guard",
        rule_ids=[rule.rule_id for rule in verdict.rules],
        pattern=patterns or None,
        still_asks=_shows_its_dialog(step, heard),
    )


def _holds(step: Step, heard: Heard) -> bool:
    hold = step.draft.state.settings.hold
    if hold == "never" or _shows_its_dialog(step, heard):
        return False
    return hold == "always" or heard.attended


def _shows_its_dialog(step: Step, heard: Heard) -> bool:
    return shows_its_dialog(context_of(step, heard.event), heard.event.agent_id)


def _told_before(step: Step, event: RuntimeEvent) -> Request | None:
    """What was decided about this very call when it came the other way: the observing hook and the gate both ask."""
    request = step.draft.requests.get(step.session.sent.get(event.tool_use_id or "", ""))
    if request is None or request.hook_name != event.hook_name:
        return None
    return request if request.tool_input == obj(event.payload, "tool_input") else None
