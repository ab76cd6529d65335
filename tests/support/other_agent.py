"""A made-up agent, with names of its own for its hooks, its tools and their input fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.agents.base import Agent, HookTraits
from quarterdeck.core.engine.messages import TranscriptPart
from quarterdeck.core.engine.session_messages import StartSession
from quarterdeck.core.model.decisions import Allow, Decision, Deny
from quarterdeck.core.model.runtime_event import Context, EventName, RuntimeEvent
from quarterdeck.core.model.state import Capabilities
from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL, ToolKind, ToolTraits

NAME = "ferret"
HOOKS: Mapping[str, HookTraits] = {
    "begin": HookTraits(event=EventName.SESSION_STARTED),
    "say": HookTraits(event=EventName.PROMPT_SUBMITTED),
    "will_use": HookTraits(event=EventName.TOOL_BEFORE),
    "used": HookTraits(event=EventName.TOOL_AFTER),
    "may_i": HookTraits(event=EventName.PERMISSION_ASKED, holds=True),
    "resting": HookTraits(event=EventName.TURN_STOPPED),
}
TOOLS: Mapping[str, ToolTraits] = {
    "run_line": ToolTraits(kind=ToolKind.SHELL),
    "patch": ToolTraits(kind=ToolKind.EDIT),
    "open": ToolTraits(kind=ToolKind.READ),
    "download": ToolTraits(kind=ToolKind.FETCH),
    "nap": ToolTraits(risk=("medium", "sleeps")),
    "Bash": UNKNOWN_TOOL,
}
FIELDS: Mapping[str, Mapping[str, str]] = {
    ToolKind.SHELL: {"line": "command"},
    ToolKind.EDIT: {"target": "file_path", "before": "old_string", "after": "new_string"},
    ToolKind.READ: {"target": "file_path"},
    ToolKind.FETCH: {"from": "url"},
}
"""The names of this agent's input fields in Quarterdeck."""


def tool_traits(name: str) -> ToolTraits:
    return TOOLS.get(name, UNKNOWN_TOOL)


def read_event(
    payload: Any, *, event_id: str, at: float, entrypoint: str = "", tag: str = "", pid: int = 0
) -> RuntimeEvent:
    body: dict[str, Any] = payload if isinstance(payload, dict) else {}
    name, tool_name = str(body.get("what")), body.get("with")
    event = HOOKS[name].event if name in HOOKS else EventName.UNKNOWN
    tool = tool_traits(tool_name) if isinstance(tool_name, str) else UNKNOWN_TOOL
    fields = FIELDS.get(tool.kind, {})
    tool_input = {fields.get(key, key): value for key, value in (body.get("input") or {}).items()}
    return RuntimeEvent(
        id=event_id,
        at=at,
        event=event,
        hook_name=name,
        session_id=str(body.get("talk")),
        payload={**body, "tool_input": tool_input, "prompt": body.get("words", "")},
        context=Context(agent=NAME, cwd=str(body.get("in", "")), entrypoint=entrypoint, pid=pid, tag=tag),
        tool_name=tool_name,
        tool=tool,
        tool_use_id=body.get("use"),
    )


def write_answer(
    hook_name: str, tool_name: str, tool_input: dict[str, Any], decision: Decision
) -> dict[str, Any] | None:
    own = {neutral: field for field, neutral in FIELDS.get(tool_traits(tool_name).kind, {}).items()}
    match decision:
        case Allow(updated_input=updated):
            return {"go": True, "input": {own.get(key, key): value for key, value in (updated or tool_input).items()}}
        case Deny(message=message):
            return {"go": False, "because": message}
        case _:
            return None


def terminal_arguments(start: StartSession, *, settings: str = "", prompt: str | None = None) -> list[str]:
    return ["--", prompt or ""]


FERRET = Agent(
    name=NAME,
    telemetry_name="ferret-cli",
    provider="burrow",
    supported=("1.0", "1.0"),
    capabilities=Capabilities(
        label="Ferret", modes=("pty",), permission_modes=("careful",), resumes=False, forks=False, edits_input=False
    ),
    hooks=HOOKS,
    tool_traits=tool_traits,
    read_event=read_event,
    write_answer=write_answer,
    transcript_reader=lambda prices: lambda content, agent_id=None, *, since=0.0: TranscriptPart(size=len(content)),
    read_summary=lambda head, tail: None,
    is_folded=lambda shown: False,
    terminal_arguments=terminal_arguments,
    resume_command=lambda session_id: f"ferret {session_id}",
    permission_suggestions=lambda suggestions: [],
    composer_text=lambda screen: None,
    shows_only=lambda shown, text: shown == text,
)
