"""The data of events about tool calls, sub-agents and to-dos."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.event_data.base import Data


class ToolCallData(Data, frozen=True, gc=False, kw_only=True):
    """The fields of every event about a tool call."""

    tool_name: str
    tool_kind: str = ""
    tool_input: dict[str, Any]
    tool_use_id: str | None = None


class ToolPreData(ToolCallData, frozen=True, gc=False, kw_only=True):
    """A tool call that is about to run."""


class ToolPostData(ToolCallData, frozen=True, gc=False, kw_only=True):
    tool_response: Any = None
    duration_ms: float | None = None


class ToolFailureData(ToolCallData, frozen=True, gc=False, kw_only=True):
    error: str = ""
    is_interrupt: bool | None = None
    duration_ms: float | None = None


class BatchedCall(Data, frozen=True, gc=False, kw_only=True):
    tool_name: str
    tool_use_id: str | None = None


class ToolBatchData(Data, frozen=True, gc=False, kw_only=True):
    tool_calls: list[BatchedCall] = []


class SubagentStartData(Data, frozen=True, gc=False, kw_only=True):
    agent_id: str
    agent_type: str


class SubagentStopData(Struct, frozen=True, gc=False, kw_only=True):
    agent_id: str
    agent_type: str
    stop_hook_active: bool
    agent_transcript_path: str | None = None
    last_assistant_message: str | None = None


class TodoAddData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    text: str
    details: str | None = None
    priority: str | None = None
    linked_event_id: str | None = None
    assigned_actor_id: str | None = None
    tags: list[str] | None = None


class TodoUpdateData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    patch: dict[str, Any]


class TodoDoneData(Data, frozen=True, gc=False, kw_only=True):
    todo_id: str
    reason: str | None = None
