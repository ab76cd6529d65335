"""Hooks of tool calls, permission requests and forms."""

from __future__ import annotations

from typing import Any

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.engine.runs import ensure_run, ensure_run_unless_resting
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.hooks import todos
from quarterdeck.core.handlers.hooks.enforce_gate import decide_at_gate
from quarterdeck.core.handlers.requests import decide_or_hold, resolve_elsewhere, withdraw_requests
from quarterdeck.core.model.event_data.request_data import (
    ElicitationResultData,
    PermissionDeniedData,
)
from quarterdeck.core.model.event_data.tool_data import (
    BatchedCall,
    ToolBatchData,
    ToolFailureData,
    ToolPostData,
    ToolPreData,
)
from quarterdeck.core.model.events import USER, actor_of
from quarterdeck.core.model.payload import flag, items, maybe_text, number, obj, read_fields, text
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.tool_kinds import ToolKind


def _call(event: RuntimeEvent) -> dict[str, Any]:
    """The fields of every event about a tool call. The two hooks of a call that went well, more than all others
    together, have them spelled out: a dict in between costs a twentieth of the whole step."""
    return {
        "tool_name": event.tool_name or "",
        "tool_kind": event.tool.kind,
        "tool_input": obj(event.payload, "tool_input"),
        "tool_use_id": event.tool_use_id,
    }


def tool_pre(step: Step, received: HookReceived) -> bool:
    event = received.event
    ensure_run(step)
    data = ToolPreData(
        tool_name=event.tool_name or "",
        tool_kind=event.tool.kind,
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
    )
    is_recorded = _is_recorded(step, data)
    if not is_recorded:
        step.emit("tool.pre", data, actor=actor_of(event.agent_id), tool_use_id=event.tool_use_id)
    if decide_at_gate(step, received):
        return True
    asks_here = event.skips_permission and event.tool.kind == ToolKind.QUESTION
    return asks_here and received.attended and not is_recorded and decide_or_hold(step, received)


def _is_recorded(step: Step, data: ToolPreData) -> bool:
    """True when this call is in the feed already: the observing hook and the gate both report it, in any order."""
    tool = step.session.open_tools.get(data.tool_use_id or "")
    return tool is not None and (tool.tool_name, tool.tool_input) == (data.tool_name, data.tool_input)


def tool_post(step: Step, received: HookReceived) -> None:
    event = received.event
    parent = _resolve_and_find_start(step, event)
    data = ToolPostData(
        tool_name=event.tool_name or "",
        tool_kind=event.tool.kind,
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
        tool_response=event.payload.get("tool_response"),
        duration_ms=number(event.payload, "duration_ms"),
    )
    step.emit("tool.post", data, actor=actor_of(event.agent_id), parent=parent, tool_use_id=event.tool_use_id)
    if event.tool.kind in todos.TOOLS:
        todos.record_tool(step, event)


def tool_failure(step: Step, received: HookReceived) -> None:
    event = received.event
    parent = _resolve_and_find_start(step, event)
    data = ToolFailureData(
        **_call(event),
        error=text(event.payload, "error"),
        is_interrupt=flag(event.payload, "is_interrupt") or None,
        duration_ms=number(event.payload, "duration_ms"),
    )
    actor = actor_of(event.agent_id)
    step.emit("tool.failure", data, actor=actor, level="error", parent=parent, tool_use_id=event.tool_use_id)


def _resolve_and_find_start(step: Step, event: RuntimeEvent) -> str | None:
    """Resolve the requests about a tool that ran. Returns the id of the event that announced the call."""
    session = step.session
    if session.run is None:
        ensure_run_unless_resting(step)
    if session.waiting or session.sent:
        resolve_elsewhere(step, event, event.tool_use_id, ran=True)
    tool = session.open_tools.get(event.tool_use_id or "")
    return tool.event_id if tool else None


def tool_batch(step: Step, received: HookReceived) -> None:
    event = received.event
    calls = [c for c in items(event.payload, "tool_calls") if isinstance(c, dict)]
    ensure_run_unless_resting(step)
    for call in calls:
        resolve_elsewhere(step, event, maybe_text(call, "tool_use_id"), ran=False)
    listed = [BatchedCall(tool_name=text(c, "tool_name"), tool_use_id=maybe_text(c, "tool_use_id")) for c in calls]
    step.emit("tool.batch", ToolBatchData(tool_calls=listed), actor=actor_of(event.agent_id), level="debug")


def permission_request(step: Step, received: HookReceived) -> bool:
    if step.session.mode == "sdk" and step.session.runs_here and received.waiter != "sdk":
        return False  # the SDK makes the same request, and only there it can be answered
    ensure_run(step)
    return decide_or_hold(step, received)


def elicitation(step: Step, received: HookReceived) -> bool:
    """A form comes only by this hook, even if the SDK makes the permission requests."""
    ensure_run(step)
    return decide_or_hold(step, received)


def permission_denied(step: Step, received: HookReceived) -> None:
    event = received.event
    ensure_run(step)
    data = PermissionDeniedData(
        **_call(event),
        reason=text(event.payload, "reason"),
    )
    step.emit("permission.denied", data, level="warn", tool_use_id=event.tool_use_id)


def elicitation_result(step: Step, received: HookReceived) -> None:
    withdraw_requests(step, "answered at the terminal", form="elicitation")
    step.emit("elicitation.result", read_fields(ElicitationResultData, received.event.payload), actor=USER)
