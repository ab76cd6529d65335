"""What each hook of an agent means in the feed: one function per hook, one table at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quarterdeck.core.engine.fold import preview
from quarterdeck.core.engine.messages import Answer, Heard
from quarterdeck.core.engine.session_identity import go_on_as
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers import todos
from quarterdeck.core.handlers.enforce_gate import decide_before
from quarterdeck.core.handlers.requests import ask, ask_to_stop, resolve_elsewhere, resolve_rest
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.agent_state import RESTING
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.events import ROOT, SYSTEM, USER, actor_of
from quarterdeck.core.model.payload import flag, items, maybe_text, number, obj, text
from quarterdeck.core.model.runtime_event import Context, RuntimeEvent
from quarterdeck.core.model.state import Session

NOTIFICATION_OF_TASK = "<task-notification>"
RUNNING_TASKS = frozenset({"running", "pending", "queued"})


def hear(step: Step, heard: Heard) -> None:
    """Record what the agent said; answer at once unless a person is to decide."""
    event = heard.event
    step.context = _news(step.session, event.context)
    waits = HOOKS.get(event.hook_name, _unknown)(step, heard)
    if not waits:
        step.effects.append(Answer(event_id=event.id, decision=SILENCE))


def _news(session: Session, context: Context) -> Context | None:
    """What of the context the session does not know yet."""
    old = session.context
    if context == old:
        return None
    news = Context(
        cwd="" if context.cwd == old.cwd else context.cwd,
        transcript_path="" if context.transcript_path == old.transcript_path else context.transcript_path,
        permission_mode="" if context.permission_mode == old.permission_mode else context.permission_mode,
        entrypoint="" if context.entrypoint == old.entrypoint else context.entrypoint,
        pid=0 if context.pid == old.pid else context.pid,
        tag="" if context.tag == old.tag else context.tag,
    )
    return None if news == _NOTHING else news


_NOTHING = Context()
SILENCE = NoOpinion()


def _start_run(step: Step, trigger: str, prompt: str | None = None) -> None:
    short = preview(prompt) if prompt else None
    data = d.RunStartData(trigger=d.Trigger(type=trigger, prompt_preview=short))
    step.emit("run.start", data, actor=USER if trigger == "user_prompt_submit" else SYSTEM)


def _in_run(step: Step) -> None:
    """The agent works: if no run is open, this opens one."""
    if step.session.run is None:
        _start_run(step, "other")


def _in_run_unless_at_rest(step: Step) -> None:
    """A result that comes after the agent has stopped belongs to no run."""
    if step.session.agent_state not in RESTING:
        _in_run(step)


def end_run(step: Step, status: str) -> None:
    """Close the open run, if there is one."""
    run = step.session.run
    if run is not None:
        level = "info" if status == "completed" else "warn"
        step.emit("run.end", d.RunEndData(status=status, counters=run.counters), level=level)


def _session_start(step: Step, heard: Heard) -> bool:
    payload = heard.event.payload
    source = text(payload, "source", "startup")
    data = d.SessionStartData(
        source=source,
        model=maybe_text(payload, "model"),
        agent_type=maybe_text(payload, "agent_type"),
        session_title=maybe_text(payload, "session_title"),
    )
    go_on_as(step, heard.event.context.tag, source, heard.event.context)
    step.emit("session.start", data, outside=source != "compact")
    if source == "resume" and step.session.run is None:
        _start_run(step, "resume")
    return False


def _session_end(step: Step, heard: Heard) -> bool:
    resolve_rest(step, "the session ended")
    end_run(step, "aborted")
    step.emit("session.end", d.SessionEndData(reason=text(heard.event.payload, "reason", "other")), outside=True)
    return False


def _prompt(step: Step, heard: Heard) -> bool:
    event = heard.event
    prompt = text(event.payload, "prompt")
    by_system = prompt.lstrip().startswith(NOTIFICATION_OF_TASK)
    if by_system:
        _in_run(step)
    else:
        run = step.session.run
        if run is not None:
            untouched = run.trigger == "resume" and run.counters == d.Counters()
            end_run(step, "completed" if untouched else "aborted")
        _start_run(step, "user_prompt_submit", prompt)
    data = d.UserPromptData(
        prompt=prompt,
        cwd=event.context.cwd,
        permission_mode=event.context.permission_mode or None,
    )
    step.emit("user.prompt", data, actor=SYSTEM if by_system else USER)
    return False


def _expansion(step: Step, heard: Heard) -> bool:
    payload = heard.event.payload
    data = d.UserExpansionData(
        expansion_type=text(payload, "expansion_type"),
        command_name=text(payload, "command_name"),
        command_args=text(payload, "command_args"),
        command_source=maybe_text(payload, "command_source"),
        prompt=text(payload, "prompt"),
    )
    step.emit("user.expansion", data, actor=USER)
    return False


def _tool_pre(step: Step, heard: Heard) -> bool:
    event = heard.event
    _in_run(step)
    data = d.ToolPreData(
        tool_name=event.tool_name or "",
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
    )
    again = _is_announced(step, data)
    if not again:
        step.emit("tool.pre", data, actor=actor_of(event.agent_id), tool_use_id=event.tool_use_id)
    if decide_before(step, heard):
        return True
    asks_here = event.tool_name == "AskUserQuestion" and event.context.permission_mode == "bypassPermissions"
    return asks_here and heard.attended and not again and ask(step, heard)


def _is_announced(step: Step, data: d.ToolPreData) -> bool:
    """Whether this very call is on record: the observing hook and the gate both tell of it, in any order."""
    tool = step.session.open_tools.get(data.tool_use_id or "")
    return tool is not None and (tool.tool_name, tool.tool_input) == (data.tool_name, data.tool_input)


def _tool_post(step: Step, heard: Heard) -> bool:
    event = heard.event
    parent = _tool_ended(step, event)
    data = d.ToolPostData(
        tool_name=event.tool_name or "",
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
        tool_response=event.payload.get("tool_response"),
        duration_ms=number(event.payload, "duration_ms"),
    )
    step.emit("tool.post", data, actor=actor_of(event.agent_id), parent=parent, tool_use_id=event.tool_use_id)
    if event.tool_name in todos.TOOLS:
        todos.todos_from_tool(step, event)
    return False


def _tool_failure(step: Step, heard: Heard) -> bool:
    event = heard.event
    parent = _tool_ended(step, event)
    data = d.ToolFailureData(
        tool_name=event.tool_name or "",
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
        error=text(event.payload, "error"),
        is_interrupt=flag(event.payload, "is_interrupt") or None,
        duration_ms=number(event.payload, "duration_ms"),
    )
    actor = actor_of(event.agent_id)
    step.emit("tool.failure", data, actor=actor, level="error", parent=parent, tool_use_id=event.tool_use_id)
    return False


def _tool_ended(step: Step, event: RuntimeEvent) -> str | None:
    """The tool ran: whoever was asked about it has been answered. Gives the event that announced it."""
    session = step.session
    if session.run is None:
        _in_run_unless_at_rest(step)
    if session.waiting or session.sent:
        resolve_elsewhere(step, event, event.tool_use_id, ran=True)
    tool = session.open_tools.get(event.tool_use_id or "")
    return tool.event_id if tool else None


def _tool_batch(step: Step, heard: Heard) -> bool:
    event = heard.event
    calls = [c for c in items(event.payload, "tool_calls") if isinstance(c, dict)]
    _in_run_unless_at_rest(step)
    for call in calls:
        resolve_elsewhere(step, event, maybe_text(call, "tool_use_id"), ran=False)
    listed = [d.BatchedCall(tool_name=text(c, "tool_name"), tool_use_id=maybe_text(c, "tool_use_id")) for c in calls]
    step.emit("tool.batch", d.ToolBatchData(tool_calls=listed), actor=actor_of(event.agent_id), level="debug")
    return False


def _permission_request(step: Step, heard: Heard) -> bool:
    if step.session.mode == "sdk" and step.session.runs_here and heard.holder != "sdk":
        return False  # the same is asked through the SDK, where it can be answered
    _in_run(step)
    return ask(step, heard)


def _elicitation(step: Step, heard: Heard) -> bool:
    """A form is asked by the hook alone, also where the SDK asks for permission."""
    _in_run(step)
    return ask(step, heard)


def _permission_denied(step: Step, heard: Heard) -> bool:
    event = heard.event
    _in_run(step)
    data = d.PermissionDeniedData(
        tool_name=event.tool_name or "",
        tool_input=obj(event.payload, "tool_input"),
        tool_use_id=event.tool_use_id,
        reason=text(event.payload, "reason"),
    )
    step.emit("permission.denied", data, level="warn", tool_use_id=event.tool_use_id)
    return False


def _elicitation_result(step: Step, heard: Heard) -> bool:
    payload = heard.event.payload
    data = d.ElicitationResultData(
        mcp_server_name=text(payload, "mcp_server_name"),
        action=text(payload, "action"),
        mode=maybe_text(payload, "mode"),
        content=payload.get("content"),
    )
    resolve_rest(step, "answered at the terminal", form="elicitation")
    step.emit("elicitation.result", data, actor=USER)
    return False


def _stop(step: Step, heard: Heard) -> bool:
    event = heard.event
    resolve_rest(step, "the agent stopped", of_agent=True)
    data = d.StopRequestData(
        stop_hook_active=flag(event.payload, "stop_hook_active"),
        last_assistant_message=maybe_text(event.payload, "last_assistant_message"),
        background=_in_background(event.payload) + len(step.session.waiting),
    )
    if data.background == 0 and ask_to_stop(step, heard, data):
        return True
    step.emit("stop.request", data)
    if data.background == 0:
        end_run(step, "completed")
    return False


def _in_background(payload: dict[str, Any]) -> int:
    tasks = items(payload, "background_tasks")
    return sum(1 for t in tasks if isinstance(t, dict) and text(t, "status") in RUNNING_TASKS)


def _stop_failure(step: Step, heard: Heard) -> bool:
    payload = heard.event.payload
    data = d.StopFailureData(
        error=text(payload, "error", "unknown"),
        last_assistant_message=maybe_text(payload, "last_assistant_message"),
    )
    step.emit("stop.failure", data, level="error")
    end_run(step, "failed")
    return False


def _subagent_start(step: Step, heard: Heard) -> bool:
    event = heard.event
    if step.session.ended_at is None:
        _in_run(step)
    data = d.SubagentStartData(agent_id=event.agent_id or "unknown", agent_type=event.agent_type or "")
    step.emit("subagent.start", data, actor=ROOT)
    return False


def _subagent_stop(step: Step, heard: Heard) -> bool:
    event = heard.event
    data = d.SubagentStopData(
        agent_id=event.agent_id or "unknown",
        agent_type=event.agent_type or "",
        stop_hook_active=flag(event.payload, "stop_hook_active"),
        agent_transcript_path=maybe_text(event.payload, "agent_transcript_path"),
        last_assistant_message=maybe_text(event.payload, "last_assistant_message"),
    )
    step.emit("subagent.stop", data, actor=actor_of(event.agent_id or "unknown"))
    return False


def _notification(step: Step, heard: Heard) -> bool:
    payload = heard.event.payload
    data = d.NotificationData(
        message=text(payload, "message"),
        title=maybe_text(payload, "title"),
        notification_type=maybe_text(payload, "notification_type"),
    )
    step.emit("notification", data)
    return False


def _unknown(step: Step, heard: Heard) -> bool:
    event = heard.event
    step.emit("unknown.hook", d.UnknownHookData(hook_event_name=event.hook_name, payload=event.payload), level="debug")
    return False


def _task_created(step: Step, heard: Heard) -> bool:
    event = heard.event
    payload = event.payload
    task_id = text(payload, "task_id")
    if not task_id or task_id in step.session.todos:
        return False
    todos.add(step, event, task_id, text(payload, "task_subject"), maybe_text(payload, "task_description"))
    return False


def _task_completed(step: Step, heard: Heard) -> bool:
    event = heard.event
    payload = event.payload
    task_id = text(payload, "task_id")
    todos.add(step, event, task_id, text(payload, "task_subject"), maybe_text(payload, "task_description"))
    todos.done(step, event, task_id)
    return False


def _plain(kind: str, read: Callable[[dict[str, Any]], Any]) -> Callable[[Step, Heard], bool]:
    """A hook that says one thing and opens no run."""

    def hook(step: Step, heard: Heard) -> bool:
        step.emit(kind, read(heard.event.payload))
        return False

    return hook


def _model_switch(payload: dict[str, Any]) -> d.ModelSwitchData:
    tokens = number(payload, "context_tokens")
    return d.ModelSwitchData(
        from_model=text(payload, "from_model"),
        to_model=text(payload, "to_model"),
        requested_model=maybe_text(payload, "requested_model"),
        source=maybe_text(payload, "source"),
        context_tokens=int(tokens) if tokens is not None and abs(tokens) < 1e15 else None,
    )


def _worktree(payload: dict[str, Any]) -> d.WorktreeData:
    return d.WorktreeData(name=maybe_text(payload, "name"), worktree_path=maybe_text(payload, "worktree_path"))


HOOKS: dict[str, Callable[[Step, Heard], bool]] = {
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "UserPromptSubmit": _prompt,
    "UserPromptExpansion": _expansion,
    "PreToolUse": _tool_pre,
    "PostToolUse": _tool_post,
    "PostToolUseFailure": _tool_failure,
    "PostToolBatch": _tool_batch,
    "PermissionRequest": _permission_request,
    "PermissionDenied": _permission_denied,
    "Elicitation": _elicitation,
    "ElicitationResult": _elicitation_result,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "Notification": _notification,
    "TaskCreated": _task_created,
    "TaskCompleted": _task_completed,
    "PreCompact": _plain(
        "compact.pre",
        lambda p: d.CompactPreData(
            trigger=text(p, "trigger", "auto"), custom_instructions=maybe_text(p, "custom_instructions")
        ),
    ),
    "PostCompact": _plain(
        "compact.post",
        lambda p: d.CompactPostData(
            trigger=text(p, "trigger", "auto"), compact_summary=maybe_text(p, "compact_summary")
        ),
    ),
    "Setup": _plain("setup", lambda p: d.SetupData(trigger=text(p, "trigger", "init"))),
    "InstructionsLoaded": _plain(
        "instructions.loaded",
        lambda p: d.InstructionsLoadedData(
            file_path=text(p, "file_path"),
            memory_type=maybe_text(p, "memory_type"),
            load_reason=maybe_text(p, "load_reason"),
        ),
    ),
    "CwdChanged": _plain(
        "cwd.changed", lambda p: d.CwdChangedData(old_cwd=text(p, "old_cwd"), new_cwd=text(p, "new_cwd"))
    ),
    "FileChanged": _plain(
        "file.changed", lambda p: d.FileChangedData(file_path=text(p, "file_path"), event=text(p, "event"))
    ),
    "DirectoryAdded": _plain(
        "directory.added",
        lambda p: d.DirectoryAddedData(directory=text(p, "directory"), source=maybe_text(p, "source")),
    ),
    "ConfigChange": _plain(
        "config.changed",
        lambda p: d.ConfigChangedData(source=text(p, "source"), file_path=maybe_text(p, "file_path")),
    ),
    "PreModelSwitch": _plain("model.pre", _model_switch),
    "PostModelSwitch": _plain("model.post", _model_switch),
    "TeammateIdle": _plain(
        "teammate.idle",
        lambda p: d.TeammateIdleData(
            teammate_name=maybe_text(p, "teammate_name"), team_name=maybe_text(p, "team_name")
        ),
    ),
    "WorktreeCreate": _plain("worktree.create", _worktree),
    "WorktreeRemove": _plain("worktree.remove", _worktree),
}
