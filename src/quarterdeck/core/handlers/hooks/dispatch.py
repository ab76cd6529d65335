"""The entry for every hook of an agent: two tables from the event to its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quarterdeck.core.engine.messages import HookReceived, InputRefused, SendAnswer
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.hooks import session_hooks, todos, tool_hooks
from quarterdeck.core.handlers.hooks.notice_hooks import NOTICE_HANDLERS, unknown_hook
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.event_data.notice_data import UnknownHookData
from quarterdeck.core.model.runtime_event import Context, EventName
from quarterdeck.core.model.state import Session

SILENCE = NoOpinion()


def receive(step: Step, received: HookReceived) -> None:
    """Record a hook call, and answer it at once unless a person must decide."""
    event = received.event
    step.context = _changed_context(step.session, event.context)
    decide = DECIDERS.get(event.event)
    if decide is None:
        RECORDERS.get(event.event, unknown_hook)(step, received)
    if decide is None or not decide(step, received):
        step.effects.append(SendAnswer(event_id=event.id, decision=SILENCE))


def record_refused(step: Step, refused: InputRefused) -> None:
    """Record a hook call that broke the rules of the envelope."""
    event = refused.event
    data = UnknownHookData(hook_event_name=event.hook_name, payload=event.payload, error=refused.error)
    step.emit("unknown.hook", data, level="error")


def _changed_context(session: Session, context: Context) -> Context | None:
    """The context fields that changed since the session's last event. Most hooks repeat all of them, and the feed would
    store each thousands of times."""
    return None if context == session.context else session.context.changes_to(context)


DECIDERS: Mapping[EventName, Callable[[Step, HookReceived], bool]] = {
    EventName.TOOL_BEFORE: tool_hooks.tool_pre,
    EventName.PERMISSION_ASKED: tool_hooks.permission_request,
    EventName.FORM_ASKED: tool_hooks.elicitation,
    EventName.TURN_STOPPED: session_hooks.stop,
}
"""The handlers of hooks that may wait for a decision. Each says whether the agent was answered by it, or waits."""

RECORDERS: Mapping[EventName, Callable[[Step, HookReceived], None]] = {
    EventName.SESSION_STARTED: session_hooks.session_start,
    EventName.SESSION_ENDED: session_hooks.session_end,
    EventName.PROMPT_SUBMITTED: session_hooks.user_prompt,
    EventName.PROMPT_EXPANDED: session_hooks.user_expansion,
    EventName.TOOL_AFTER: tool_hooks.tool_post,
    EventName.TOOL_FAILED: tool_hooks.tool_failure,
    EventName.TOOLS_FINISHED: tool_hooks.tool_batch,
    EventName.PERMISSION_DENIED: tool_hooks.permission_denied,
    EventName.FORM_ANSWERED: tool_hooks.elicitation_result,
    EventName.TURN_FAILED: session_hooks.stop_failure,
    EventName.SUBAGENT_STARTED: session_hooks.subagent_start,
    EventName.SUBAGENT_STOPPED: session_hooks.subagent_stop,
    EventName.TODO_ADDED: todos.task_created,
    EventName.TODO_DONE: todos.task_completed,
    **NOTICE_HANDLERS,
}
"""The handlers of all other hooks: those are answered at once."""
