"""The agent's to-do list: events from its to-do tools and task hooks."""

from __future__ import annotations

import re
from typing import Any

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.event_data.tool_data import TodoAddData, TodoDoneData, TodoUpdateData
from quarterdeck.core.model.events import actor_of
from quarterdeck.core.model.payload import items, maybe_text, obj, text
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.tool_kinds import ToolKind

TOOLS = frozenset({ToolKind.TODO_LIST, ToolKind.TODO_ADD, ToolKind.TODO_UPDATE})
STATUS = {"pending": "open", "in_progress": "doing", "completed": "done", "blocked": "blocked", "deleted": "done"}
PRIORITY = {"high": "p0", "medium": "p1", "low": "p2"}


def record_tool(step: Step, event: RuntimeEvent) -> None:
    """Record the changes that a to-do tool made to the list."""
    match event.tool.kind:
        case ToolKind.TODO_LIST:
            _replace_list(step, event, items(obj(event.payload, "tool_input"), "todos"))
        case ToolKind.TODO_ADD:
            tool_input = obj(event.payload, "tool_input")
            task_id = _task_id(event.payload.get("tool_response"))
            if task_id:
                add(step, event, task_id, text(tool_input, "subject"), maybe_text(tool_input, "description"))
        case ToolKind.TODO_UPDATE:
            tool_input = obj(event.payload, "tool_input")
            task_id = text(tool_input, "taskId") or text(tool_input, "task_id")
            _update(step, event, task_id, text(tool_input, "subject"), text(tool_input, "status"))
        case _:
            pass


def task_created(step: Step, received: HookReceived) -> None:
    """Record an item that an agent reports by a hook of its own."""
    event, payload = received.event, received.event.payload
    task_id = text(payload, "task_id")
    add(step, event, task_id, text(payload, "task_subject"), maybe_text(payload, "task_description"))


def task_completed(step: Step, received: HookReceived) -> None:
    """Record that an item is done; add it first when it is new."""
    task_created(step, received)
    done(step, received.event, text(received.event.payload, "task_id"))


def add(step: Step, event: RuntimeEvent, todo_id: str, subject: str, details: str | None, priority: str = "") -> None:
    """Record a new item, unless it is known."""
    if todo_id and todo_id not in step.session.todos:
        data = TodoAddData(todo_id=todo_id, text=subject, details=details or None, priority=PRIORITY.get(priority))
        step.emit("todo.add", data, actor=actor_of(event.agent_id), tool_use_id=event.tool_use_id)


def done(step: Step, event: RuntimeEvent, todo_id: str, reason: str | None = None) -> None:
    """Record that an item is done, unless it was."""
    todo = step.session.todos.get(todo_id)
    if todo is not None and todo.status != "done":
        data = TodoDoneData(todo_id=todo_id, reason=reason)
        step.emit("todo.done", data, actor=actor_of(event.agent_id), tool_use_id=event.tool_use_id)


def _update(step: Step, event: RuntimeEvent, todo_id: str, subject: str, status: str) -> None:
    todo = step.session.todos.get(todo_id)
    if todo is None:
        return
    patch: dict[str, Any] = {}
    if subject and subject != todo.text:
        patch["text"] = subject
    word = STATUS.get(status, "")
    if word and word not in ("done", todo.status):
        patch["status"] = word
    if patch:
        data = TodoUpdateData(todo_id=todo_id, patch=patch)
        step.emit("todo.update", data, actor=actor_of(event.agent_id), tool_use_id=event.tool_use_id)
    if word == "done":
        done(step, event, todo_id, "deleted" if status == "deleted" else None)


def _replace_list(step: Step, event: RuntimeEvent, todos: list[Any]) -> None:
    """Record the differences to the list of a tool that always sends the whole list."""
    named: set[str] = set()
    for todo in todos:
        content = text(todo, "content") if isinstance(todo, dict) else ""
        if not content:
            continue
        todo_id = text(todo, "id") or content[:128]
        named.add(todo_id)
        add(step, event, todo_id, content, None, text(todo, "priority"))
        _update(step, event, todo_id, content, text(todo, "status"))
    for todo_id in [k for k in step.session.todos if k not in named]:
        done(step, event, todo_id, "removed")


def _task_id(response: object) -> str:
    """The id in the response of a tool that adds one: a task object, or a sentence with its number."""
    if isinstance(response, dict):
        task = response.get("task")
        found = task.get("id") if isinstance(task, dict) else response.get("id")
        return str(found) if isinstance(found, str | int) else ""
    numbered = re.search(r"#(\d{1,9})", response) if isinstance(response, str) else None
    return numbered.group(1) if numbered else ""
