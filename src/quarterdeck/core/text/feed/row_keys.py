"""The keys that join events into one row: two events with a key in common are one row. Pure.

A tool call joins its request, the decision, the outcome and the to-dos it changed; the end of a turn joins the stop,
the agent's report and the end of the run; a prompt joins the start of its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quarterdeck.core.model.events import HIDDEN

Event = dict[str, Any]
Keys = tuple[str, ...]

REPEATING_NOTIFICATIONS = frozenset({"idle_prompt", "permission_prompt"})
"""Notifications that only repeat the state of the session."""


def is_debug(event: Event) -> bool:
    """True for an event that repeats or explains another one: surfaces show it only at level debug."""
    if event["kind"] != "notification":
        return event["kind"] in HIDDEN
    data = event.get("data")
    return isinstance(data, dict) and data.get("notification_type") in REPEATING_NOTIFICATIONS


def head_order(kind: str, seq_no: int) -> tuple[bool, int]:
    """The order in which the events of a row may be its head: the first one, but rather a prompt than its run."""
    return kind == "run.start", seq_no


def row_keys(event: Event) -> Keys:
    """The keys of an event; one without any is a row of its own."""
    make = KEYS.get(event["kind"])
    data = event.get("data")
    return make(event, data) if make is not None and isinstance(data, dict) else ()


def _call(event: Event, data: Event) -> Keys:
    use = data.get("tool_use_id")
    return (f"{event['session_id']}/{use}",) if use else ()


def _caused_by_call(event: Event, data: Event) -> Keys:
    cause = event.get("cause")
    use = cause.get("tool_use_id") if isinstance(cause, dict) else None
    return (f"{event['session_id']}/{use}",) if use else ()


def _of_request(event: Event, data: Event) -> Keys:
    request = data.get("request_id")
    return (f"{event['session_id']}?{request}",) if request else ()


def _request(event: Event, data: Event) -> Keys:
    return (*_of_request(event, data), *(_call(event, data) or _caused_by_call(event, data)))


def _decision(event: Event, data: Event) -> Keys:
    return (*_of_request(event, data), *_caused_by_call(event, data))


def _end(event: Event, data: Event) -> Keys:
    return (f"{event['run_id']} end",)


def _stop(event: Event, data: Event) -> Keys:
    """A stop ends its run unless it waits for a decision or work goes on in the background."""
    if data.get("request_id"):
        return _of_request(event, data)
    return () if data.get("background") else _end(event, data)


def _stop_decision(event: Event, data: Event) -> Keys:
    ends = not data.get("late") and data.get("decision_type") != "block"
    return (*_of_request(event, data), *(_end(event, data) if ends else ()))


def _run_start(event: Event, data: Event) -> Keys:
    return (f"{event['run_id']} start",)


def _prompt(event: Event, data: Event) -> Keys:
    return _run_start(event, data) if event.get("actor_id") == "user" else ()


def _subagent(event: Event, data: Event) -> Keys:
    return (f"{event['session_id']}@{data.get('agent_id')}",)


KEYS: Mapping[str, Callable[[Event, Event], Keys]] = {
    "tool.pre": _call,
    "tool.post": _call,
    "tool.failure": _call,
    "permission.denied": _call,
    "permission.request": _request,
    "question.request": _request,
    "permission.decision": _decision,
    "question.decision": _decision,
    "request.assessed": _of_request,
    "todo.add": _caused_by_call,
    "todo.update": _caused_by_call,
    "todo.done": _caused_by_call,
    "stop.request": _stop,
    "stop.decision": _stop_decision,
    "stop.failure": _end,
    "turn.result": _end,
    "run.end": _end,
    "run.start": _run_start,
    "user.prompt": _prompt,
    "subagent.start": _subagent,
    "subagent.stop": _subagent,
}
"""The keys by kind; the events of other kinds are rows of their own."""
