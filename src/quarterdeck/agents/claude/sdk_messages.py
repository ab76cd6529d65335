"""Claude Code over its SDK: the flags it is started with, what it says there, and how what it asks is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import write_answer
from quarterdeck.core.engine.session_messages import Noted, Start, TurnEnded
from quarterdeck.core.model.decisions import Decision

NOBODY = "Nobody answered in Quarterdeck, so this was denied."
"""A session over the SDK has no prompt of its own to fall back to."""

PERMISSION_MODES = ("default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions")
"""2.1.197 takes any other word as well, and then has none of these."""

QUESTION = "AskUserQuestion"
STREAMING = (
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
)


class Streamed(Struct, frozen=True):
    """Something beside the feed: nothing is lost that hooks and transcript do not tell."""

    kind: str
    data: dict[str, Any]


Said = TurnEnded | Noted | Streamed


def arguments(start: Start, *, settings: str = "", sources: Sequence[str], tools: Sequence[str] | None) -> list[str]:
    """The flags for a session. What somebody else chose is bound to its flag, so that it can never be read as another
    one; a choice of tools always has the question among it."""
    chosen = {
        "--model": start.model,
        "--permission-mode": start.permission_mode,
        "--max-turns": start.max_turns,
        "--resume": start.resume,
        "--resume-session-at": start.fork_at,
        "--session-id": start.session_id if start.fork or not start.resume else None,
        "--settings": settings or None,
        "--tools": None if tools is None else ",".join(dict.fromkeys((*tools, QUESTION))),
        "--setting-sources": ",".join(sources),
    }
    forks = ["--fork-session"] if start.fork else []
    return [*STREAMING, *forks, *(f"{flag}={value}" for flag, value in chosen.items() if value is not None)]


def other_way(start: Start, said: str) -> Start | None:
    """The start that an agent would take, when it says that there is no such conversation, or that there is one."""
    if start.resume and "No conversation found" in said:
        return replace(start, resume=None)
    return replace(start, resume=start.session_id) if not start.resume and "already in use" in said else None


def write_prompt(prompt: str, attachments: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A prompt as Claude Code reads it; a text alone stays one, or a slash command in it would not be seen."""
    content: object = [*attachments, {"type": "text", "text": prompt}] if attachments else prompt
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


def write_permission(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any]:
    """What the SDK answers when a tool is asked for: `behavior`, and what goes with it. Silence is a deny."""
    answer = write_answer("PermissionRequest", tool_name, tool_input, decision)
    if answer is None:
        return {"behavior": "deny", "message": NOBODY}
    said: dict[str, Any] = answer["hookSpecificOutput"]["decision"]
    if changes := said.get("updatedPermissions"):
        said["updatedPermissions"] = [plain_change(change) for change in changes]
    return said


def plain_change(change: Any) -> Any:
    """A change of permissions whose rules say nothing of what they do not limit: Claude Code drops a rule with a null,
    which the SDK's own spelling has."""
    rules = change.get("rules") if isinstance(change, dict) else None
    return {**change, "rules": [_said(rule) for rule in rules]} if isinstance(rules, list) else change


def _said(rule: Any) -> Any:
    return {key: value for key, value in rule.items() if value is not None} if isinstance(rule, dict) else rule


def trouble_in(raw: Any) -> str:
    """What an agent that cannot start says, such as that there is no such conversation."""
    errors = raw.get("errors") if isinstance(raw, dict) and raw.get("type") == "result" else None
    return "; ".join(map(str, errors)) if isinstance(errors, list) else ""


def read_message(raw: Any, session_id: str, at: float) -> Said:
    """What a message says. Never raises, and what is not known is noted as it came."""
    body: dict[str, Any] = raw if isinstance(raw, dict) else {"value": raw}
    kind = _text(body.get("type")) or "unknown"
    if kind == "result":
        return TurnEnded(session_id=session_id, at=at, result=_result(body))
    if kind == "stream_event":
        return Streamed("text", _delta(body))
    if kind in ("assistant", "user"):
        return Streamed("message", _message(kind, body))
    name = _text(body.get("subtype")) or "unknown" if kind == "system" else kind
    rest = {key: value for key, value in body.items() if key not in _ENVELOPE}
    if name in _BESIDE:
        return Streamed(_BESIDE[name], {"name": name, **rest})
    return Noted(session_id=session_id, at=at, name=name[:128], body=rest)


_ENVELOPE = frozenset({"type", "subtype", "uuid", "session_id"})

_BESIDE = {
    "hook_started": "hook",
    "hook_progress": "hook",
    "hook_response": "hook",
    "task_progress": "progress",
    "tool_progress": "progress",
    "status": "progress",
    "session_state_changed": "progress",
    "background_tasks_changed": "progress",
    "keep_alive": "progress",
}
"""What hooks say as well, or what only holds until the next one comes."""

_RESULT = {
    "subtype": "subtype",
    "is_error": "is_error",
    "stop_reason": "stop_reason",
    "terminal_reason": "terminal_reason",
    "result": "result",
    "errors": "errors",
    "num_turns": "num_turns",
    "duration_ms": "duration_ms",
    "duration_api_ms": "duration_api_ms",
    "total_cost_usd": "total_cost_usd",
    "usage": "usage",
    "modelUsage": "model_usage",
    "permission_denials": "permission_denials",
    "local_command": "local_command",
    "structured_output": "structured_output",
    "deferred_tool_use": "deferred_tool_use",
    "api_error_status": "api_error_status",
    "origin": "origin",
    "session_id": "session_id",
    "uuid": "uuid",
}

_MESSAGE = {
    "id": "message_id",
    "model": "model",
    "content": "content",
    "stop_reason": "stop_reason",
}

_AROUND = {
    "uuid": "uuid",
    "parent_tool_use_id": "parent_tool_use_id",
    "error": "error",
    "isReplay": "is_replay",
    "isSynthetic": "is_synthetic",
}


def _result(body: Mapping[str, Any]) -> dict[str, Any]:
    result = _kept(body, _RESULT)
    models = result.get("model_usage")
    if isinstance(models, dict):
        result["model_usage"] = {model: _snake(used) for model, used in models.items()}
    return result


def _snake(names: Any) -> Any:
    """The same with names as we write them, such as cost_usd for costUSD."""
    if not isinstance(names, dict):
        return names
    return {_HUMP.sub("_", str(name)).lower(): value for name, value in names.items()}


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _kept(body: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {ours: body[theirs] for theirs, ours in names.items() if body.get(theirs) is not None}


def _message(role: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A whole message; its text is in the transcript as well."""
    message = body.get("message")
    inner = message if isinstance(message, dict) else {"content": message}
    return {"role": role, **_kept(inner, _MESSAGE), **_kept(body, _AROUND)}


def _delta(body: Mapping[str, Any]) -> dict[str, Any]:
    """A piece of a message that is still being said: `event` says what begins, comes or ends."""
    event = body.get("event")
    inner: dict[str, Any] = event if isinstance(event, dict) else {"value": event}
    said: dict[str, Any] = {"event": _text(inner.get("type")) or "unknown"}
    if parent := body.get("parent_tool_use_id"):
        said["parent_tool_use_id"] = parent
    return {**said, **_piece(inner)}


def _piece(event: dict[str, Any]) -> dict[str, Any]:
    message, delta, block = event.get("message"), event.get("delta"), event.get("content_block")
    at = {"index": event["index"]} if "index" in event else {}
    if isinstance(message, dict):
        return _kept(message, {"id": "message_id", "model": "model"})
    if isinstance(block, dict):
        return {**at, **_kept(block, {"type": "block", "name": "name", "id": "id"})}
    if isinstance(delta, dict):
        return {**at, **_kept(delta, _DELTA)}
    return at or {key: value for key, value in event.items() if key != "type"}


_DELTA = {
    "type": "delta",
    "text": "text",
    "thinking": "thinking",
    "partial_json": "partial_json",
    "stop_reason": "stop_reason",
}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
