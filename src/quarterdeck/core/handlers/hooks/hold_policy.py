"""`decide.hold`: when a request is held for a person, and when the agent asks at its own prompt immediately."""

from __future__ import annotations

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.payload import TOO_LARGE, obj
from quarterdeck.core.model.runtime_event import Context, EventName, RuntimeEvent


def should_hold(step: Step, received: HookReceived) -> bool:
    """True when the request must wait for a person. In `auto` mode only if someone is watching or the agent shows its
    own dialog meanwhile, and never if that would hide the dialog."""
    hold = step.draft.state.settings.hold
    if TOO_LARGE in obj(received.event.payload, "tool_input"):
        return False
    if hold != "auto" or received.waiter == "sdk":
        return hold != "never"  # an SDK session has no dialog but Quarterdeck's
    if received.event.event == EventName.FORM_ASKED:
        is_terminal = context_of(step, received.event).entrypoint == "cli"
        return received.attended and not is_terminal  # its dialog waits until the hook has answered
    return received.attended or agent_shows_dialog(step, received)


def should_hold_at_gate(step: Step, received: HookReceived) -> bool:
    """True when a call at the gate must wait for a person: an agent with a dialog asks there instead."""
    hold = step.draft.state.settings.hold
    if hold == "never" or agent_shows_dialog(step, received):
        return False
    return hold == "always" or received.attended


def agent_shows_dialog(step: Step, received: HookReceived) -> bool:
    return shows_dialog(context_of(step, received.event), received.event.agent_id)


def shows_dialog(context: Context, agent_id: str | None) -> bool:
    """True when the agent shows its own dialog while it is held: a background sub-agent waits for the answer first."""
    return context.entrypoint == "cli" and agent_id is None


def context_of(step: Step, event: RuntimeEvent) -> Context:
    """The session's surroundings: the event's own fields, and those known before where it has none."""
    return step.session.context.merged(event.context)
