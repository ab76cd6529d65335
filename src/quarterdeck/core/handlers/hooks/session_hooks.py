"""Hooks of a session: its start and end, its prompts, its stops, its sub-agents."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.engine.prompt_queue import is_unprompted_fork
from quarterdeck.core.engine.runs import ensure_run, start_run
from quarterdeck.core.engine.session_identity import adopt_new_id, turn_to_fork
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.requests import hold_stop, withdraw_requests
from quarterdeck.core.model.event_data.request_data import (
    StopFailureData,
    StopRequestData,
)
from quarterdeck.core.model.event_data.session_data import (
    Counters,
    SessionEndData,
    SessionStartData,
    UserExpansionData,
    UserPromptData,
)
from quarterdeck.core.model.event_data.tool_data import (
    SubagentStartData,
    SubagentStopData,
)
from quarterdeck.core.model.events import ROOT, SYSTEM, USER, actor_of
from quarterdeck.core.model.payload import flag, items, maybe_text, read_fields, text

TASK_NOTIFICATION = "<task-notification>"
"""The beginning of a prompt that no person wrote: a task in the background has ended."""

RUNNING_TASKS = frozenset({"running", "pending", "queued"})


def session_start(step: Step, received: HookReceived) -> None:
    payload = received.event.payload
    source = text(payload, "source", "startup")
    data = read_fields(SessionStartData, payload, source=source)
    adopt_new_id(step, received.event.context.tag, source, received.event.context)
    turn_to_fork(step, received.event.context.tag)
    step.emit("session.start", data, outside=source != "compact")
    if source == "resume" and step.session.run is None and not is_unprompted_fork(step.session):
        start_run(step, "resume")


def session_end(step: Step, received: HookReceived) -> None:
    withdraw_requests(step, "the session ended")
    step.end_run("aborted")
    step.emit("session.end", SessionEndData(reason=text(received.event.payload, "reason", "other")), outside=True)


def user_prompt(step: Step, received: HookReceived) -> None:
    event = received.event
    prompt = text(event.payload, "prompt")
    by_system = prompt.lstrip().startswith(TASK_NOTIFICATION)
    if by_system:
        ensure_run(step)
    else:
        run = step.session.run
        if run is not None:
            untouched = run.trigger == "resume" and run.counters == Counters()
            step.end_run("completed" if untouched else "aborted")
        start_run(step, "user_prompt_submit", prompt)
    data = UserPromptData(
        prompt=prompt,
        cwd=event.context.cwd,
        permission_mode=event.context.permission_mode or None,
    )
    step.emit("user.prompt", data, actor=SYSTEM if by_system else USER)


def user_expansion(step: Step, received: HookReceived) -> None:
    step.emit("user.expansion", read_fields(UserExpansionData, received.event.payload), actor=USER)


def stop(step: Step, received: HookReceived) -> bool:
    event = received.event
    withdraw_requests(step, "the agent stopped", of_agent=True)
    data = StopRequestData(
        stop_hook_active=flag(event.payload, "stop_hook_active"),
        last_assistant_message=maybe_text(event.payload, "last_assistant_message"),
        background=_background_tasks(event.payload) + len(step.session.waiting),
    )
    if data.background == 0 and hold_stop(step, received, data):
        return True
    step.emit("stop.request", data)
    if data.background == 0:
        step.end_run("completed")
    return False


def _background_tasks(payload: dict[str, Any]) -> int:
    tasks = items(payload, "background_tasks")
    return sum(1 for t in tasks if isinstance(t, dict) and text(t, "status") in RUNNING_TASKS)


def stop_failure(step: Step, received: HookReceived) -> None:
    payload = received.event.payload
    data = read_fields(StopFailureData, payload, error=text(payload, "error", "unknown"))
    session = step.session
    # Over the SDK the result of the turn may come first, which ends the run.
    is_late = session.run is None and session.runs_here and session.mode == "sdk"
    step.emit("stop.failure", data, level="error", of_last_run=is_late)
    step.end_run("failed")


def subagent_start(step: Step, received: HookReceived) -> None:
    event = received.event
    if step.session.ended_at is None:
        ensure_run(step)
    data = SubagentStartData(agent_id=event.agent_id or "unknown", agent_type=event.agent_type or "")
    step.emit("subagent.start", data, actor=ROOT)


def subagent_stop(step: Step, received: HookReceived) -> None:
    event = received.event
    named = {"agent_id": event.agent_id or "unknown", "agent_type": event.agent_type or ""}
    data = read_fields(SubagentStopData, event.payload, **named)
    step.emit("subagent.stop", data, actor=actor_of(event.agent_id or "unknown"))
