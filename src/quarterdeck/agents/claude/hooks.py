"""Claude Code's hooks: which we register and how, how each is read, and how each is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.decisions import Allow, Answer, Ask, Block, Decision, Deny, Grant, NoOpinion
from quarterdeck.core.model.events import OWN
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.runtime_event import INTERACTIONS, SILENT, Context, RuntimeEvent

SUPPORTED = ("2.1.197", "2.1.325")
"""The versions whose payloads are recorded and whose answers are tested."""


class Hook(Struct, frozen=True):
    """How one event is registered: `transport` is http, command or never; `since` the first CLI that knows it. With
    `only` it is held for that tool alone, with `on_wish` when the settings say so: whoever is not held must not wait
    long, should we not answer."""

    transport: str = "http"
    holds: bool = False
    only: str = ""
    on_wish: bool = False
    matcher: bool = False
    since: str = "2.1.197"
    why: str = ""


HOOKS: Mapping[str, Hook] = {
    "SessionStart": Hook("command", matcher=True, why="HTTP hooks do not fire for it"),
    "SessionEnd": Hook(matcher=True),
    "Setup": Hook("command", matcher=True, why="HTTP hooks do not fire for it"),
    "UserPromptSubmit": Hook(),
    "UserPromptExpansion": Hook(),
    "PreToolUse": Hook(holds=True, only="AskUserQuestion", matcher=True),
    "PermissionRequest": Hook(holds=True, matcher=True),
    "PermissionDenied": Hook(matcher=True),
    "PostToolUse": Hook(matcher=True),
    "PostToolUseFailure": Hook(matcher=True),
    "PostToolBatch": Hook(),
    "Notification": Hook(matcher=True),
    "Stop": Hook(holds=True, on_wish=True),
    "StopFailure": Hook(),
    "SubagentStart": Hook(matcher=True),
    "SubagentStop": Hook(matcher=True),
    "PreCompact": Hook(matcher=True),
    "PostCompact": Hook(matcher=True),
    "Elicitation": Hook(holds=True),
    "ElicitationResult": Hook(),
    "TaskCreated": Hook(),
    "TaskCompleted": Hook(),
    "TeammateIdle": Hook(),
    "InstructionsLoaded": Hook(),
    "CwdChanged": Hook(),
    "ConfigChange": Hook(),
    "DirectoryAdded": Hook(since="2.1.325"),
    "PreModelSwitch": Hook(since="2.1.325"),
    "PostModelSwitch": Hook(since="2.1.325"),
    "WorktreeRemove": Hook(),
    "FileChanged": Hook("never", why="it watches the file names of its matcher; we have none to watch"),
    "MessageDisplay": Hook("never", why="streamed text: a stream beside the feed, one call per delta"),
    "WorktreeCreate": Hook("never", why="a hook for it replaces the making of the worktree"),
}
"""All events of Claude Code 2.1.325; each is read when it comes, whether or not we register for it."""

STREAMS = frozenset({"MessageDisplay"})
"""Events that are never put into the feed."""


def read_hook(
    payload: Any, *, event_id: str, at: float, entrypoint: str = "", tag: str = "", pid: int = 0
) -> RuntimeEvent:
    """What a hook payload says. Never raises: what is missing or of the wrong type becomes empty."""
    body: dict[str, Any] = payload if isinstance(payload, dict) else {"value": payload}
    get = body.get
    hook_name = _name(get("hook_event_name"))
    tool_name = get("tool_name")
    return RuntimeEvent(
        id=event_id,
        at=at,
        hook_name=hook_name,
        session_id=_session_id(get("session_id")),
        payload=body,
        context=Context(
            cwd=_text(get("cwd")),
            transcript_path=_text(get("transcript_path")),
            permission_mode=_text(get("permission_mode")),
            entrypoint=safe_id(entrypoint, "") if entrypoint else "",
            pid=pid,
            tag=safe_id(tag, "") if tag else "",
        ),
        interaction=INTERACTIONS.get(hook_name, SILENT),
        tool_name=tool_name if isinstance(tool_name, str) else None,
        tool_use_id=_id(get("tool_use_id")),
        agent_id=_id(get("agent_id")),
        agent_type=_text(get("agent_type")) or None,
    )


def can_be_judged(event: RuntimeEvent) -> bool:
    """Whether a gate knows what it hears: a call with its tool and input, or an event where there is none to block."""
    if event.hook_name == "PreToolUse":
        return bool(event.tool_name) and isinstance(event.payload.get("tool_input"), dict)
    return event.hook_name in HOOKS


def _session_id(value: object) -> str:
    found = safe_id(value, "unknown")
    return found if found != OWN else "unknown"


def _name(value: object) -> str:
    return value[:128] if isinstance(value, str) and value else "unknown"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id(value: object) -> str | None:
    return (safe_id(value, "") or None) if value else None


def write_answer(
    hook_name: str, tool_name: str, tool_input: dict[str, Any], decision: Decision
) -> dict[str, Any] | None:
    """The JSON Claude Code reads for this decision on this event; None is silence, which changes nothing.

    Keyed on the event: an answer of another event's shape is ignored or, on PreToolUse, lets the tool run.
    """
    write = _WRITERS.get(hook_name)
    return write(tool_name, tool_input, decision) if write else None


def _permission(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    match decision:
        case Allow(updated_input=updated, updated_permissions=permissions, grant=grant, mode=mode):
            answer: dict[str, Any] = {"behavior": "allow"}
            if updated is not None or tool_name == "ExitPlanMode":
                answer["updatedInput"] = tool_input if updated is None else updated  # or 2.1.325 leaves its dialog open
            if changed := [*(permissions or ()), *([_added(grant)] if grant else ()), *_mode_change(mode)]:
                answer["updatedPermissions"] = changed
        case Answer():
            answer = {"behavior": "allow", "updatedInput": _answered(tool_input, decision)}
        case Deny(message=message, interrupt=interrupt):
            answer = {"behavior": "deny", "message": message}
            if interrupt:
                answer["interrupt"] = True
        case Block(reason=reason):
            answer = {"behavior": "deny", "message": reason}
        case Ask() | NoOpinion():
            return None
    return _specific("PermissionRequest", {"decision": answer})


KEEPERS = {
    "session": "session",
    "local": "localSettings",
    "project": "projectSettings",
    "user": "userSettings",
}
"""Where Claude Code keeps a rule of its own."""


def _added(grant: Grant) -> dict[str, Any]:
    """A rule for Claude Code itself. Without its destination the whole decision would be dropped."""
    tool, _, content = grant.pattern.removesuffix(")").partition("(")
    rule = {"toolName": tool, "ruleContent": content} if content else {"toolName": tool}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": KEEPERS[grant.keeper]}


def _pre_tool(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    match decision:
        case Allow(updated_input=updated):
            answer: dict[str, Any] = {"permissionDecision": "allow"}
            if updated is not None:
                answer["updatedInput"] = updated
        case Answer():
            answer = {"permissionDecision": "allow", "updatedInput": _answered(tool_input, decision)}
            answer["additionalContext"] = _in_words(decision)
        case Deny(message=reason) | Block(reason=reason):
            answer = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        case Ask(reason=why):
            answer = {"permissionDecision": "ask"}
            if why:
                answer["permissionDecisionReason"] = why
        case NoOpinion():
            return None
    return _specific("PreToolUse", answer)


def _mode_change(mode: str | None) -> list[dict[str, str]]:
    """A change without a destination makes Claude Code drop the whole decision."""
    return [{"type": "setMode", "mode": mode, "destination": "session"}] if mode else []


def _answered(tool_input: dict[str, Any], decision: Answer) -> dict[str, Any]:
    """The whole input with the answers and notes beside the questions."""
    answered = {**tool_input, "answers": _joined(decision)}
    if decision.notes:
        answered["annotations"] = {question: {"notes": note} for question, note in decision.notes.items()}
    return answered


def _joined(decision: Answer) -> dict[str, Any]:
    """Several choices are one text, joined by commas."""
    return {q: ", ".join(a) if isinstance(a, list) else a for q, a in decision.answers.items()}


def _in_words(decision: Answer) -> str:
    """Questions and answers for the model to read."""
    notes = decision.notes or {}
    said = [f"{q} {a}" + (f" (note: {notes[q]})" if q in notes else "") for q, a in _joined(decision).items()]
    return "\n".join(["The user answered:", *said])


def _blocking(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    """Stop, SubagentStop, UserPromptSubmit and PostToolUse know one refusal: block with a reason."""
    match decision:
        case Block(reason=reason) | Deny(message=reason):
            return {"decision": "block", "reason": reason}
        case _:
            return None


def _elicitation(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    match decision:
        case Answer(answers=content):
            return _specific("Elicitation", {"action": "accept", "content": content})
        case Deny(interrupt=True):
            return _specific("Elicitation", {"action": "cancel"})
        case Deny() | Block():
            return _specific("Elicitation", {"action": "decline"})
        case _:
            return None


def _specific(hook_name: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": hook_name, **answer}}


_WRITERS = {
    "PermissionRequest": _permission,
    "PreToolUse": _pre_tool,
    "Stop": _blocking,
    "SubagentStop": _blocking,
    "UserPromptSubmit": _blocking,
    "PostToolUse": _blocking,
    "Elicitation": _elicitation,
}
