"""Claude Code over its SDK: its flags, its messages, and the answers to its permission requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.agents.claude.hooks import write_answer
from quarterdeck.core.engine.session_messages import AgentNote, StartSession, TurnEnded
from quarterdeck.core.model.decisions import Decision

NO_ANSWER = "Nobody answered in Quarterdeck, so this was denied."
"""The reason of the deny: a session over the SDK has no prompt of its own to fall back to."""

QUESTION = "AskUserQuestion"
STREAMING = (
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool=stdio",
)


class StreamItem(Struct, frozen=True):
    """A live detail that does not go into the feed: hooks and the transcript report everything that is kept."""

    kind: str
    data: dict[str, Any]


SdkMessage = TurnEnded | AgentNote | StreamItem


def arguments(
    start: StartSession, *, settings: str = "", sources: Sequence[str], tools: Sequence[str] | None
) -> list[str]:
    """The flags for a session. A value from outside is bound to its flag, so that it can never be read as another one;
    a choice of tools always includes the question tool."""
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


def alternative_start(start: StartSession, error: str) -> StartSession | None:
    """The start to try next: a new conversation if the agent finds none to resume, a resume if the id is in use."""
    if start.resume and not start.fork and "No conversation found" in error:
        return replace(start, resume=None)
    if start.resume != start.session_id and "already in use" in error:
        return replace(start, resume=start.session_id, fork=False, fork_at=None)
    return None


def write_prompt(prompt: str, attachments: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A prompt as Claude Code reads it. Text without attachments stays a string, or a slash command would not work."""
    content: object = [*attachments, {"type": "text", "text": prompt}] if attachments else prompt
    return {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


def write_permission(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any]:
    """The SDK's answer to a permission request: `behavior` and its fields. No opinion is a deny."""
    answer = write_answer("PermissionRequest", tool_name, tool_input, decision)
    if answer is None:
        return {"behavior": "deny", "message": NO_ANSWER}
    result: dict[str, Any] = answer["hookSpecificOutput"]["decision"]
    if changes := result.get("updatedPermissions"):
        result["updatedPermissions"] = [plain_change(change) for change in changes]
    return result


def plain_change(change: Any) -> Any:
    """A change of permissions without null fields in its rules: the SDK writes them, and Claude Code drops such a
    rule."""
    rules = change.get("rules") if isinstance(change, dict) else None
    return {**change, "rules": [_without_nulls(rule) for rule in rules]} if isinstance(rules, list) else change


def _without_nulls(rule: Any) -> Any:
    return {key: value for key, value in rule.items() if value is not None} if isinstance(rule, dict) else rule


def start_error(raw: Any) -> str:
    """The errors of an agent that cannot start, such as a conversation that does not exist."""
    errors = raw.get("errors") if isinstance(raw, dict) and raw.get("type") == "result" else None
    return "; ".join(map(str, errors)) if isinstance(errors, list) else ""


def read_message(raw: Any, session_id: str, at: float) -> SdkMessage:
    """Read a message. Never raises; an unknown one becomes a note of its raw content."""
    body: dict[str, Any] = raw if isinstance(raw, dict) else {"value": raw}
    kind = _text(body.get("type")) or "unknown"
    if kind == "result":
        return TurnEnded(session_id=session_id, at=at, result=_result(body), is_refused=_is_refused(body))
    if kind == "stream_event":
        return StreamItem("text", _delta(body))
    if kind in ("assistant", "user"):
        return StreamItem("message", _message(kind, body))
    name = _text(body.get("subtype")) or "unknown" if kind == "system" else kind
    rest = {key: value for key, value in body.items() if key not in _ENVELOPE}
    if name in _STREAM_KINDS:
        return StreamItem(_STREAM_KINDS[name], {"name": name, **rest})
    return AgentNote(session_id=session_id, at=at, name=name[:128], body=rest, retrying=_retrying(name, rest))


def _retrying(name: str, body: Mapping[str, Any]) -> str | None:
    """Why Claude Code waits before it calls its model again; None for any other message."""
    if name != "api_retry":
        return None
    status, attempt, most = (body.get(key) for key in ("error_status", "attempt", "max_retries"))
    reason = f"the API answered {status}" if isinstance(status, int) else "the API did not answer"
    return f"{reason}; retry {attempt} of {most}" if isinstance(attempt, int) and isinstance(most, int) else reason


_ENVELOPE = frozenset({"type", "subtype", "uuid", "session_id"})

_STREAM_KINDS = {
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
"""Messages for the live stream only: hooks report the same, or the next message replaces them."""

_RESULT = [
    "subtype",
    "is_error",
    "stop_reason",
    "terminal_reason",
    "result",
    "errors",
    "num_turns",
    "duration_ms",
    "duration_api_ms",
    "total_cost_usd",
    "usage",
    "modelUsage",
    "permission_denials",
    "local_command",
    "structured_output",
    "deferred_tool_use",
    "api_error_status",
    "origin",
    "session_id",
    "uuid",
]
_MESSAGE = ("model", "content", "stop_reason")
_AROUND = ("uuid", "parent_tool_use_id", "error", "isReplay", "isSynthetic")
_DELTA = ("text", "thinking", "partial_json", "stop_reason")
"""The fields that are kept of a result, of a message, of what surrounds it, and of a piece of one."""


def _result(body: Mapping[str, Any]) -> dict[str, Any]:
    result = _kept(body, _RESULT)
    models = result.get("model_usage")
    if isinstance(models, dict):
        result["model_usage"] = {model: _snake(used) for model, used in models.items()}
    return result


def _is_refused(body: Mapping[str, Any]) -> bool:
    """True if the model refused the agent or could not be reached. Claude Code reports such an error as a success with
    `is_error`; other statuses, like 429 and 500, have nothing to do with keys and addresses."""
    status = body.get("api_error_status")
    return body.get("is_error") is True and body.get("subtype") == "success" and status in (None, 401, 403, 404)


def _snake(names: Any) -> Any:
    """The same with names in snake case, such as cost_usd for costUSD."""
    if not isinstance(names, dict):
        return names
    return {_HUMP.sub("_", str(name)).lower(): value for name, value in names.items()}


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _kept(body: Mapping[str, Any], names: Sequence[str] = (), **renamed: str) -> dict[str, Any]:
    """The fields that are set: those with these names, and those under a new name, which is given the old one."""
    found = {name: body[name] for name in names if body.get(name) is not None}
    again = {new: body[old] for new, old in renamed.items() if body.get(old) is not None}
    return {**again, **_snake(found)}


def _message(role: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A whole message; its text is also in the transcript."""
    message = body.get("message")
    inner = message if isinstance(message, dict) else {"content": message}
    return {"role": role, **_kept(inner, _MESSAGE, message_id="id"), **_kept(body, _AROUND)}


def _delta(body: Mapping[str, Any]) -> dict[str, Any]:
    """A piece of a message that is still being written: `event` says which part begins, continues or ends."""
    event = body.get("event")
    inner: dict[str, Any] = event if isinstance(event, dict) else {"value": event}
    delta: dict[str, Any] = {"event": _text(inner.get("type")) or "unknown"}
    if parent := body.get("parent_tool_use_id"):
        delta["parent_tool_use_id"] = parent
    return {**delta, **_piece(inner)}


def _piece(event: dict[str, Any]) -> dict[str, Any]:
    message, delta, block = event.get("message"), event.get("delta"), event.get("content_block")
    at = {"index": event["index"]} if "index" in event else {}
    if isinstance(message, dict):
        return _kept(message, ("model",), message_id="id")
    if isinstance(block, dict):
        return {**at, **_kept(block, ("name", "id"), block="type")}
    if isinstance(delta, dict):
        return {**at, **_kept(delta, _DELTA, delta="type")}
    return at or {key: value for key, value in event.items() if key != "type"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
