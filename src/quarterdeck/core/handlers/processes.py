"""Facts from the process table about sessions. A hook's report wins unless the process has changed since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.engine.messages import ProcessGone, ProcessSeen
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.requests import withdraw_requests
from quarterdeck.core.model.agent_state import SILENT, AgentState, state_of_process
from quarterdeck.core.model.event_data.session_data import SessionEndData, SessionStateData
from quarterdeck.core.model.state import Session

SETTLE_SECONDS = 1.0
"""The time a status must last before it counts: between two turns an agent is idle for an instant."""

STALE_SECONDS = 86400.0
"""The state of a session becomes unknown after this time without an event, if its process was never seen."""

HOOK_SECONDS = 10.0
"""A change of the process's status comes with a hook, within this time of it."""

LOOKS_UNTIL_ANSWERED = 2
"""Looks at an agent that no longer waits until its dialog counts as answered: there is a gap between two dialogs."""

CORRECTED_STATES: Mapping[AgentState, frozenset[AgentState]] = {
    AgentState.IDLE: frozenset(
        {
            AgentState.RUNNING,
            AgentState.WAITING_PERMISSION,
            AgentState.WAITING_INPUT,
            AgentState.SENT,
            AgentState.BLOCKED,
        }
    ),
    AgentState.RUNNING: frozenset(AgentState) - {AgentState.RUNNING, AgentState.ENDED},
    AgentState.WAITING_PERMISSION: frozenset(AgentState) - {AgentState.WAITING_PERMISSION, AgentState.ENDED},
}
"""The states that each status of the process corrects; `settled` is more precise than `idle` and stays."""


def corrected_state(session: Session, seen: ProcessSeen) -> AgentState | None:
    """The state that the process proves; None when hooks reported the same, or something newer. An agent that is idle
    since after its last hook has left its dialog too, even if the report of that is still on its way."""
    state = state_of_process(seen.status, seen.waiting_for)
    if state is None or session.waiting or seen.at - seen.changed_at < SETTLE_SECONDS:
        return None
    if session.agent_state is AgentState.UNKNOWN:
        return state if state in CORRECTED_STATES else None
    known_at = session.hook_state_at if state is AgentState.IDLE else session.state_at
    if session.agent_state not in CORRECTED_STATES.get(state, ()) or seen.changed_at < known_at:
        return None
    return None if seen.status == "shell" and session.background else state


class AgentDialog(Struct, frozen=True, kw_only=True):
    """The dialog that an agent shows for a request, as its process file was seen. A file from before `since` says
    nothing about it. `agent_id` is the sub-agent that asks; `looks_gone` counts the looks since it was gone. A dialog
    from before a restart (`is_resumed`) may have been answered unseen: then the file has changed since."""

    request_id: str
    agent_id: str | None
    since: float
    was_seen: bool = False
    is_resumed: bool = False
    looks_gone: int = 0

    @property
    def is_answered(self) -> bool:
        return self.looks_gone >= LOOKS_UNTIL_ANSWERED


def dialogs_after(dialogs: Sequence[AgentDialog], status: str, changed_at: float) -> list[AgentDialog]:
    """The dialogs of one session after another check of its process file. One is answered when it was on screen and is
    gone: waiting after its request was opened, then twice not waiting. A file that never says *waiting* proves nothing.

    A dialog belongs to the main agent while that has a request open. Otherwise it belongs to a sub-agent, and to a
    known one only when a single sub-agent has a request open.
    """
    of_main_agent = any(dialog.agent_id is None for dialog in dialogs)
    return [
        _dialog_after(dialog, status, changed_at)
        if dialog.agent_id is None or (not of_main_agent and len(dialogs) == 1)
        else dialog
        for dialog in dialogs
    ]


def _dialog_after(dialog: AgentDialog, status: str, changed_at: float) -> AgentDialog:
    if status == "waiting":
        return replace(dialog, looks_gone=0, was_seen=dialog.was_seen or changed_at >= dialog.since)
    was_there = dialog.was_seen or (dialog.is_resumed and changed_at > dialog.since)
    return replace(dialog, looks_gone=dialog.looks_gone + 1) if was_there else dialog


def has_silent_hooks(session: Session, seen: ProcessSeen) -> bool:
    """True if the status of the process has changed, and no hook came within `HOOK_SECONDS` of that, before or after:
    then its hooks do not reach the daemon."""
    is_heard = session.hook_at > session.hooks_lost_at
    is_late = seen.at - seen.changed_at >= HOOK_SECONDS
    return is_heard and is_late and session.hook_at < seen.changed_at - HOOK_SECONDS


def has_changes(session: Session, seen: ProcessSeen) -> bool:
    """True when something follows from this report. Most reports repeat the last one, and need no step."""
    return bool(seen.answered) or _is_news(session, seen)


def _is_news(session: Session, seen: ProcessSeen) -> bool:
    if seen.process != session.process or has_silent_hooks(session, seen):
        return True
    return corrected_state(session, seen) is not None


def record_process(step: Step, seen: ProcessSeen) -> None:
    """Record what hooks cannot see: a dialog answered at the terminal, an interrupt, the session's process."""
    if seen.session_id not in step.draft.sessions:
        return
    for request_id in seen.answered:
        if request_id in step.session.waiting:
            step.withdraw(step.draft.requests[request_id], "answered at the terminal")
    state = corrected_state(step.session, seen)
    if state is AgentState.IDLE:
        step.end_run("aborted")
    if state is not None or seen.process != step.session.process:
        data = SessionStateData(
            status="" if state is None else seen.status,
            waiting_for=None if state is None else seen.waiting_for,
            pid=seen.process.pid,
            start=seen.process.start,
        )
        step.emit("session.state", data, level="debug")
    if has_silent_hooks(step.session, seen):
        data = SessionStateData(status=SILENT, pid=seen.process.pid, start=seen.process.start)
        step.emit("session.state", data, level="debug")


def end_gone_session(step: Step, gone: ProcessGone) -> None:
    """End a session whose process has exited: no hook will report it."""
    session = step.draft.sessions.get(gone.session_id)
    if session is None or session.process != gone.process:
        return
    withdraw_requests(step, "the agent's process is gone")
    step.end_run("aborted")
    data = SessionEndData(reason=gone.reason, source="process")
    step.emit("session.end", data, level="warn", outside=True)


def mark_stale(step: Step) -> None:
    """Set the state of silent sessions to unknown, if their process was never seen."""
    for session in list(step.draft.sessions.values()):
        silent = step.at - session.last_event_at > STALE_SECONDS
        known = session.process is not None or session.waiting or session.agent_state is AgentState.UNKNOWN
        if silent and not known:
            step.session_id = session.session_id
            step.emit("session.state", SessionStateData(status="stale"), level="debug")
