"""The gate before a tool call: it enforces the rules, whichever hook the agent calls."""

from __future__ import annotations

from quarterdeck.core.engine.messages import HookReceived, SendAnswer
from quarterdeck.core.engine.step import Step, sent_decision
from quarterdeck.core.handlers.hooks.hold_policy import agent_shows_dialog, should_hold_at_gate
from quarterdeck.core.handlers.requests import form_of, hook_verdict, open_request
from quarterdeck.core.model.decisions import Ask, Deny, Source
from quarterdeck.core.model.payload import TOO_LARGE, obj
from quarterdeck.core.model.rule import Verdict
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.state import Request
from quarterdeck.core.rules.verdicts import close_by_rule, rulebook

TOO_LARGE_MESSAGE = "Denied by Quarterdeck: the input is too large to check."


def decide_at_gate(step: Step, received: HookReceived) -> bool:
    """Decide a call that is about to run. True when the agent is answered or waits; otherwise it continues on its own.
    A deny applies at every hook; an ask and an allow only at the gate, because elsewhere the agent asks by itself."""
    event = received.event
    earlier = _earlier_request(step, event)
    if earlier is not None and (received.enforced or isinstance(sent_decision(earlier), Deny)):
        step.effects.append(SendAnswer(event_id=event.id, decision=sent_decision(earlier), request=earlier))
        return True
    if not received.enforced and not rulebook(step.draft.rules).denies_anything:
        return False
    verdict = hook_verdict(step, received)
    if verdict.effect == "deny" or (received.enforced and verdict.effect == "allow" and not form_of(event)):
        close_by_rule(step, open_request(step, received, held=False, enforced=received.enforced), verdict)
        return True
    return received.enforced and not form_of(event) and _ask_person(step, received, verdict)


def _ask_person(step: Step, received: HookReceived, verdict: Verdict) -> bool:
    """Let a person decide: in Quarterdeck if the agent shows no dialog and someone is watching, else in the agent's own
    dialog. An agent with a dialog then also sends a permission request, and is held beside the dialog."""
    if TOO_LARGE in obj(received.event.payload, "tool_input"):
        request = open_request(step, received, held=False, enforced=True)
        step.resolve(request, Deny(TOO_LARGE_MESSAGE), Source.RULE, "limits")
        return True
    if verdict.effect is None:
        return False
    held = should_hold_at_gate(step, received)
    request = open_request(step, received, held=held, enforced=True)
    if not held:
        _send_to_dialog(step, received, request, verdict)
    return True


def _send_to_dialog(step: Step, received: HookReceived, request: Request, verdict: Verdict) -> None:
    patterns = ", ".join(rule.pattern for rule in verdict.rules)
    why = f"the rule {patterns} asks for a decision" if patterns else ", ".join(verdict.reasons)
    step.resolve(
        request,
        Ask(why),
        Source.RULE,
        verdict.rules[0].rule_id if verdict.rules else "guard",
        rule_ids=[rule.rule_id for rule in verdict.rules],
        pattern=patterns or None,
        still_asks=agent_shows_dialog(step, received),
    )


def _earlier_request(step: Step, event: RuntimeEvent) -> Request | None:
    """The request that decided this same call before: the observing hook and the gate both ask about it."""
    request = step.draft.requests.get(step.session.sent.get(event.tool_use_id or "", ""))
    if request is None or request.hook_name != event.hook_name:
        return None
    return request if request.tool_input == obj(event.payload, "tool_input") else None
