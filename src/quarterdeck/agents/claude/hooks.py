"""Claude Code's hooks: how each is registered, read and answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarterdeck.agents.base import HookTraits
from quarterdeck.agents.claude.tools import TOOLS, tool_traits
from quarterdeck.core.model.decisions import Allow, Answer, Ask, Block, Decision, Deny, Grant, NoOpinion
from quarterdeck.core.model.events import OWN
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.runtime_event import Context, EventName, RuntimeEvent
from quarterdeck.core.model.tool_kinds import UNKNOWN_TOOL

SUPPORTED = ("2.1.197", "2.1.325")
"""The versions whose payloads are recorded and whose answers are tested."""


class Hook(HookTraits, frozen=True, kw_only=True):
    """The registration of one event: `transport` is http, command or never; `since` is the first CLI that knows it.
    With `only` it is held for that tool alone, with `optional` if the settings say so. A call that is not held gets a
    short time-out, so that it does not wait long if the daemon does not answer."""

    transport: str = "http"
    only: str = ""
    optional: bool = False
    matcher: bool = False
    since: str = "2.1.197"
    why: str = ""


HOOKS: Mapping[str, Hook] = {
    "SessionStart": Hook(
        event=EventName.SESSION_STARTED, transport="command", matcher=True, why="HTTP hooks do not fire for it"
    ),
    "SessionEnd": Hook(event=EventName.SESSION_ENDED, matcher=True),
    "Setup": Hook(event=EventName.SETUP, transport="command", matcher=True, why="HTTP hooks do not fire for it"),
    "UserPromptSubmit": Hook(event=EventName.PROMPT_SUBMITTED),
    "UserPromptExpansion": Hook(event=EventName.PROMPT_EXPANDED),
    "PreToolUse": Hook(event=EventName.TOOL_BEFORE, holds=True, only="AskUserQuestion", matcher=True),
    "PermissionRequest": Hook(event=EventName.PERMISSION_ASKED, holds=True, matcher=True),
    "PermissionDenied": Hook(event=EventName.PERMISSION_DENIED, matcher=True),
    "PostToolUse": Hook(event=EventName.TOOL_AFTER, matcher=True),
    "PostToolUseFailure": Hook(event=EventName.TOOL_FAILED, matcher=True),
    "PostToolBatch": Hook(event=EventName.TOOLS_FINISHED),
    "Notification": Hook(event=EventName.NOTIFICATION, matcher=True),
    "Stop": Hook(event=EventName.TURN_STOPPED, holds=True, optional=True),
    "StopFailure": Hook(event=EventName.TURN_FAILED),
    "SubagentStart": Hook(event=EventName.SUBAGENT_STARTED, matcher=True),
    "SubagentStop": Hook(event=EventName.SUBAGENT_STOPPED, matcher=True),
    "PreCompact": Hook(event=EventName.COMPACT_BEFORE, matcher=True),
    "PostCompact": Hook(event=EventName.COMPACT_AFTER, matcher=True),
    "Elicitation": Hook(event=EventName.FORM_ASKED, holds=True),
    "ElicitationResult": Hook(event=EventName.FORM_ANSWERED),
    "TaskCreated": Hook(event=EventName.TODO_ADDED),
    "TaskCompleted": Hook(event=EventName.TODO_DONE),
    "TeammateIdle": Hook(event=EventName.TEAMMATE_IDLE),
    "InstructionsLoaded": Hook(event=EventName.INSTRUCTIONS_LOADED),
    "CwdChanged": Hook(event=EventName.CWD_CHANGED),
    "ConfigChange": Hook(event=EventName.CONFIG_CHANGED),
    "DirectoryAdded": Hook(event=EventName.DIRECTORY_ADDED, since="2.1.325"),
    "PreModelSwitch": Hook(event=EventName.MODEL_BEFORE, since="2.1.325"),
    "PostModelSwitch": Hook(event=EventName.MODEL_AFTER, since="2.1.325"),
    "WorktreeRemove": Hook(event=EventName.WORKTREE_REMOVED),
    "FileChanged": Hook(
        event=EventName.FILE_CHANGED,
        transport="never",
        why="it watches the file names of its matcher; Quarterdeck has none to watch",
    ),
    "MessageDisplay": Hook(
        event=EventName.TEXT_STREAMED,
        transport="never",
        why="streamed text: one call per delta, which does not belong into the feed",
    ),
    "WorktreeCreate": Hook(
        event=EventName.WORKTREE_CREATED, transport="never", why="a hook for it replaces the creation of the worktree"
    ),
}
"""All events of Claude Code 2.1.325; each is read when it comes, even if Quarterdeck does not register for it."""


_EVENTS = {name: hook.event for name, hook in HOOKS.items()}


def read_hook(
    payload: Any, *, event_id: str, at: float, entrypoint: str = "", tag: str = "", pid: int = 0
) -> RuntimeEvent:
    """Read a hook payload. Never raises: a field that is missing or has the wrong type becomes empty."""
    body: dict[str, Any] = payload if isinstance(payload, dict) else {"value": payload}
    get = body.get  # every hook call comes here: what is empty or in a table is not handed to another function
    hook_name = _name(get("hook_event_name"))
    tool_name = get("tool_name")
    if not isinstance(tool_name, str):
        tool_name = None
    permission_mode = _text(get("permission_mode"))
    return RuntimeEvent(
        id=event_id,
        at=at,
        event=_EVENTS.get(hook_name, EventName.UNKNOWN),
        hook_name=hook_name,
        session_id=_session_id(get("session_id")),
        payload=body,
        context=Context(
            cwd=_text(get("cwd")),
            transcript_path=_text(get("transcript_path")),
            permission_mode=permission_mode,
            entrypoint=safe_id(entrypoint, "") if entrypoint else "",
            pid=pid,
            tag=safe_id(tag, "") if tag else "",
        ),
        tool_name=tool_name,
        tool=UNKNOWN_TOOL if tool_name is None else TOOLS.get(tool_name) or tool_traits(tool_name),
        tool_use_id=_id(get("tool_use_id")),
        agent_id=_id(get("agent_id")),
        agent_type=_text(get("agent_type")) or None,
        skips_permission=permission_mode == "bypassPermissions",
    )


def _session_id(value: object) -> str:
    found = safe_id(value, "unknown")
    return found if found != OWN else "unknown"


def _name(value: object) -> str:
    """A name of any hook, also of later versions; cut, because the feed stores it with every call."""
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
            if changed := [*(permissions or ()), *([_added_rule(grant)] if grant else ()), *_mode_change(mode)]:
                answer["updatedPermissions"] = changed
        case Answer():
            answer = {"behavior": "allow", "updatedInput": _answered_input(tool_input, decision)}
        case Deny(message=message, interrupt=interrupt):
            answer = {"behavior": "deny", "message": message}
            if interrupt:
                answer["interrupt"] = True
        case Block(reason=reason):
            answer = {"behavior": "deny", "message": reason}
        case Ask() | NoOpinion():
            return None
    return _hook_output("PermissionRequest", {"decision": answer})


RULE_DESTINATIONS = {
    "session": "session",
    "local": "localSettings",
    "project": "projectSettings",
    "user": "userSettings",
}
"""Claude Code's names for the places where it keeps its own rules."""


def _added_rule(grant: Grant) -> dict[str, Any]:
    """A rule for Claude Code itself. Without a destination it would drop the whole decision."""
    tool, _, content = grant.pattern.removesuffix(")").partition("(")
    rule = {"toolName": tool, "ruleContent": content} if content else {"toolName": tool}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": RULE_DESTINATIONS[grant.keeper]}


def _pre_tool(tool_name: str, tool_input: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    match decision:
        case Allow(updated_input=updated):
            answer: dict[str, Any] = {"permissionDecision": "allow"}
            if updated is not None:
                answer["updatedInput"] = updated
        case Answer():
            answer = {"permissionDecision": "allow", "updatedInput": _answered_input(tool_input, decision)}
            answer["additionalContext"] = _answers_as_text(decision)
        case Deny(message=reason) | Block(reason=reason):
            answer = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        case Ask(reason=why):
            answer = {"permissionDecision": "ask"}
            if why:
                answer["permissionDecisionReason"] = why
        case NoOpinion():
            return None
    return _hook_output("PreToolUse", answer)


def _mode_change(mode: str | None) -> list[dict[str, str]]:
    """The change of mode. Without a destination Claude Code would drop the whole decision."""
    return [{"type": "setMode", "mode": mode, "destination": "session"}] if mode else []


def _answered_input(tool_input: dict[str, Any], decision: Answer) -> dict[str, Any]:
    """The whole input with the answers and notes beside the questions."""
    answered = {**tool_input, "answers": _joined_answers(decision)}
    if decision.notes:
        answered["annotations"] = {question: {"notes": note} for question, note in decision.notes.items()}
    return answered


def _joined_answers(decision: Answer) -> dict[str, Any]:
    """The answers by question; several choices become one text, joined by commas."""
    return {q: ", ".join(a) if isinstance(a, list) else a for q, a in decision.answers.items()}


def _answers_as_text(decision: Answer) -> str:
    """Questions and answers for the model to read."""
    notes = decision.notes or {}
    lines = [f"{q} {a}" + (f" (note: {notes[q]})" if q in notes else "") for q, a in _joined_answers(decision).items()]
    return "\n".join(["The user answered:", *lines])


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
            return _hook_output("Elicitation", {"action": "accept", "content": content})
        case Deny(interrupt=True):
            return _hook_output("Elicitation", {"action": "cancel"})
        case Deny() | Block():
            return _hook_output("Elicitation", {"action": "decline"})
        case _:
            return None


def _hook_output(hook_name: str, answer: dict[str, Any]) -> dict[str, Any]:
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
