"""The start and end of owned sessions: what is recorded, which effects it has, and what follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from quarterdeck.core.engine.input_bases import SessionInput
from quarterdeck.core.engine.prompt_queue import has_conversation
from quarterdeck.core.engine.session_identity import current_session
from quarterdeck.core.engine.session_messages import (
    AgentExited,
    AgentNote,
    AgentStarted,
    CommandFailed,
    EndAgent,
    Launch,
    PromptDelivered,
    StartSession,
    TurnEnded,
    WorktreeChanged,
)
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.requests import withdraw_requests
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data.notice_data import WorktreeData
from quarterdeck.core.model.event_data.owned_session_data import (
    AgentNoteData,
    SessionCloseData,
    SessionExitData,
    SessionFailedData,
    SessionGivenData,
    SessionLaunchData,
    SessionUpData,
    TurnResultData,
)
from quarterdeck.core.model.event_data.session_data import SessionEndData
from quarterdeck.core.model.events import SYSTEM, USER
from quarterdeck.core.model.payload import flag, items, maybe_text, number, shared_fields, text, whole
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Ownership, Request, Session
from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.titles import subject_of

MAX_LAST_WORDS = 4096
"""Characters of a screen or of stderr: the reason of an exit is at its end."""

MAX_TEXT = 10_000
"""Characters of a turn's result and of each of its errors: the transcript has the text too, so the feed need not."""

MAX_SUBJECT = 60
"""Characters of a command or file in a sentence."""

PROMPT_LOST = "Quarterdeck stopped before the agent confirmed this prompt; check the feed, then send it again"
DAEMON_ENVIRONMENT = "the daemon's environment counts, not your shell's: set it, then qd stop and qd up"
"""The advice when the model refused an agent, or could not be reached, that has its environment from the daemon."""

WORKING_STATES = frozenset({AgentState.RUNNING, AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT})

R = TypeVar("R", bound=SessionInput)


def launch(step: Step, start: StartSession, *, actor: str = USER) -> None:
    """Record the launch of a session, and order it."""
    step.session_id = start.session_id
    after = step.session.process
    step.end_run("aborted")
    if start.agent and start.agent != step.session.agent:
        step.context = Context(agent=start.agent)
    data = SessionLaunchData(
        handle=start.session_id,
        resumed=start.resume == start.session_id,
        forked_from=start.resume if start.fork else None,
        **shared_fields(start, SessionLaunchData),
    )
    step.emit("session.launch", data, actor=actor, outside=True)
    step.effects.append(Launch(start=start, after=after))


def end_agent(
    step: Step, session: Session, owned: Ownership, by: str, *, next_mode: str | None = None, actor: str = USER
) -> None:
    """Record that a session must end, and order it."""
    step.emit("session.close", SessionCloseData(by=by, next_mode=next_mode), actor=actor)
    step.effects.append(EndAgent(mode=session.mode, handle=owned.handle))


def _about_owned(handle: Callable[[Step, Session, Ownership, R], None]) -> Callable[[Step, R], None]:
    """A handler for the session as it is called now; a report about one that is not owned says nothing."""

    def handler(step: Step, report: R) -> None:
        session = current_session(step.draft.state, report.session_id)
        if session is not None and session.owned is not None:
            step.session_id = session.session_id
            handle(step, session, session.owned, report)

    return handler


@_about_owned
def agent_started(step: Step, session: Session, owned: Ownership, report: AgentStarted) -> None:
    """Record that the agent runs. After a restart, prompts that its host does not have are reported, and a session that
    was ending is ended now."""
    if not owned.runs:
        return
    pid, start = (report.process.pid, report.process.start) if report.process else (None, None)
    step.emit("session.up", SessionUpData(pid=pid, start=start, terminal=report.terminal), level="debug")
    if report.recovered:
        _report_lost_prompts(step, session, kept=report.queued)
    if report.recovered and owned.status == "ending":
        step.effects.append(EndAgent(mode=session.mode, handle=owned.handle))


@_about_owned
def agent_exited(step: Step, session: Session, owned: Ownership, report: AgentExited) -> None:
    """Record the exit of a session that ran."""
    if owned.runs:
        _record_exit(step, session, owned, report)


def command_failed(step: Step, report: CommandFailed) -> None:
    """Record that a command failed, of an owned session as it is called now, or of an observed one."""
    session = current_session(step.draft.state, report.session_id) or step.draft.sessions.get(report.session_id)
    if session is None:
        return
    step.session_id = session.session_id
    data = SessionFailedData(order=report.command, error=report.error, message_id=report.message_id)
    step.emit("session.failed", data, level="error")


@_about_owned
def prompt_delivered(step: Step, session: Session, owned: Ownership, report: PromptDelivered) -> None:
    if report.message_id in owned.queued:
        step.emit("session.given", SessionGivenData(message_id=report.message_id), level="debug")


@_about_owned
def agent_note(step: Step, session: Session, owned: Ownership, report: AgentNote) -> None:
    step.emit("agent.note", AgentNoteData(name=report.name, body=report.body, retrying=report.retrying), level="debug")


@_about_owned
def worktree_changed(step: Step, session: Session, owned: Ownership, report: WorktreeChanged) -> None:
    changed = WorktreeData(name=report.branch, worktree_path=report.path, by=report.by, base=report.base)
    step.emit(f"worktree.{report.action}", changed, actor=USER, outside=True)


@_about_owned
def turn_ended(step: Step, session: Session, owned: Ownership, report: TurnEnded) -> None:
    """Record the end of a turn. An error counts as an interrupt if a person interrupted the turn or ended the
    session."""
    data = _turn_result(report.result, DAEMON_ENVIRONMENT if report.is_refused else None)
    if data.is_error and (owned.interrupted or owned.ended_by is not None):
        data = replace(data, interrupted=True)
    if data.is_error:
        withdraw_requests(step, "the turn ended")
    level = "error" if data.is_error and not data.interrupted else "info"
    step.emit("turn.result", data, level=level, of_last_run=step.session.run is None)
    if data.is_error:
        step.end_run("aborted" if data.interrupted else "failed")


def _turn_result(result: dict[str, Any], advice: str | None) -> TurnResultData:
    """The fields of an SDK's result message that the feed keeps; one of an unexpected type is left out."""
    last_text = maybe_text(result, "result")
    usage = result.get("usage")
    return TurnResultData(
        subtype=text(result, "subtype", "unknown"),
        is_error=flag(result, "is_error") or text(result, "subtype", "success") != "success",
        stop_reason=maybe_text(result, "stop_reason"),
        turns=whole(result, "num_turns"),
        duration_ms=number(result, "duration_ms"),
        api_ms=number(result, "duration_api_ms"),
        cost_usd=number(result, "total_cost_usd"),
        usage=usage if isinstance(usage, dict) else None,
        errors=[error[:MAX_TEXT] for error in items(result, "errors") if isinstance(error, str)],
        text=last_text[:MAX_TEXT] if last_text else None,
        advice=advice,
    )


def _record_exit(step: Step, session: Session, owned: Ownership, report: AgentExited) -> None:
    """Record the exit of a session, since no hook may have reported it; then start it again if it was switching
    modes."""
    if report.is_lost:
        _report_lost_prompts(step, session)
    unexpected = owned.ended_by is None and (report.code != 0 or report.signal is not None)
    cut_off = session.run.prompt_preview if session.run and owned.ended_by is None else None
    was_resuming = owned.status == "starting" and owned.by == SYSTEM
    is_resumed = report.is_lost and session.mode == "sdk" and (owned.status == "up" or was_resuming)
    failure = _cut_off_words(step, session, "send" if is_resumed else "resume") if cut_off is not None else None
    withdraw_requests(step, "the session ended")
    step.end_run("aborted")
    data = SessionExitData(
        mode=session.mode,
        reason=report.reason,
        code=report.code,
        signal=report.signal,
        last_words=report.last_words[-MAX_LAST_WORDS:],
        cut_off=cut_off,
        failure=failure,
    )
    step.emit("session.exit", data, level="error" if unexpected else "info", outside=True)
    if step.session.ended_at is None:
        step.emit("session.end", SessionEndData(reason=report.reason, source="process"), outside=True)
    if owned.next_mode is not None:
        launch(step, _restart_command(session, owned, owned.next_mode, owned.ended_by or owned.by, step.at))
    elif is_resumed:
        launch(step, _restart_command(session, owned, "sdk", SYSTEM, step.at), actor=SYSTEM)


def _cut_off_words(step: Step, session: Session, command: str) -> str:
    """The interrupted work, and the command that continues it."""
    waiting = next((step.draft.requests[one] for one in session.waiting if one in step.draft.requests), None)
    words = "it worked" if waiting is None else f"it waited for your answer to {_subject(waiting)}"
    return f"cut off while {words}; to go on: qd {command} {session.session_id[:8]} 'go on'"


def _subject(request: Request) -> str:
    if request.kind == "question":
        return "a question"
    return f"{request.tool_name} {cut(subject_of(request.tool_input), MAX_SUBJECT)}".rstrip()


def _restart_command(session: Session, owned: Ownership, mode: str, by: str, at: float) -> StartSession:
    """The command that continues a session where it was."""
    start = StartSession(
        session_id=session.session_id,
        mode=mode,
        cwd=session.context.cwd,
        by=by,
        at=at,
        permission_mode=owned.permission_mode or session.context.permission_mode or None,
        model=owned.model,
        resume=session.session_id,
        worktree=owned.worktree,
        agent=session.context.agent,
    )
    return with_conversation(start, session, owned)


def with_conversation(start: StartSession, session: Session, owned: Ownership) -> StartSession:
    """The start that continues an owned session. One that never got a prompt has no conversation: it begins again, a
    fork in the conversation that it was forked from. Until it has answered, both are possible."""
    if has_conversation(session):
        return replace(start, unsure=not owned.answered)
    is_fork = owned.forked_from is not None
    return replace(start, resume=owned.forked_from, fork=is_fork, fork_at=owned.fork_at, unsure=True)


def _report_lost_prompts(step: Step, session: Session, kept: tuple[str | None, ...] = ()) -> None:
    """Report the prompts that were on their way to the agent when the daemon ended. They are not sent again: nobody
    knows whether they arrived."""
    for message_id in session.owned.queued if session.owned else ():
        if message_id not in kept:
            data = SessionFailedData(order="send", error=PROMPT_LOST, message_id=message_id)
            step.emit("session.failed", data, level="error")


def end_idle_sessions(step: Step) -> None:
    """End SDK sessions that have been idle for longer than `idle_seconds`, if that is set."""
    seconds = step.draft.state.settings.idle_seconds
    if not seconds:
        return
    for session in list(step.draft.sessions.values()):
        owned = session.owned
        is_resting = session.run is None and not session.waiting and session.agent_state not in WORKING_STATES
        if (
            owned
            and owned.status == "up"
            and session.mode == "sdk"
            and is_resting
            and step.at - session.last_event_at > seconds
        ):
            step.session_id = session.session_id
            end_agent(step, session, owned, "idle", actor=SYSTEM)
