"""What the process table proves of a session, and what it does not: a hook's word is older or newer, never ignored."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.engine.messages import ProcessGone, ProcessSeen
from quarterdeck.core.engine.step import Step
from quarterdeck.core.handlers.hooks import end_run
from quarterdeck.core.handlers.requests import resolve_rest
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model.agent_state import AgentState, state_of_process
from quarterdeck.core.model.state import Session

SETTLE_SECONDS = 1.0
"""How long a status must stand: between two turns an agent is idle for an instant."""

STALE_SECONDS = 86400.0
"""After so long without a word, a session whose process was never seen is unknown."""

CORRECTS: Mapping[AgentState, frozenset[AgentState]] = {
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
"""Which states each word of the process corrects; `settled` says more than `idle` and stays."""


def believed(session: Session, seen: ProcessSeen) -> AgentState | None:
    """What the process's word makes of the session; None when hooks said as much, or something newer. Whoever is idle
    after what a hook last said has left a dialog too, though we may hear of that a moment later."""
    said = state_of_process(seen.status, seen.waiting_for)
    if said is None or session.waiting or seen.at - seen.changed_at < SETTLE_SECONDS:
        return None
    if session.agent_state is AgentState.UNKNOWN:
        return said if said in CORRECTS else None
    known_at = session.heard_at if said is AgentState.IDLE else session.state_at
    if session.agent_state not in CORRECTS.get(said, ()) or seen.changed_at < known_at:
        return None
    return None if seen.status == "shell" and session.background else said


def is_news(session: Session, seen: ProcessSeen) -> bool:
    """Whether anything follows from what was seen."""
    return bool(seen.answered) or seen.process != session.process or believed(session, seen) is not None


def process_seen(step: Step, seen: ProcessSeen) -> None:
    """Believe what hooks cannot see: a dialog answered at the terminal, an interrupt, who runs the session."""
    if seen.session_id not in step.draft.sessions:
        return
    for request_id in seen.answered:
        if request_id in step.session.waiting:
            step.withdraw(step.draft.requests[request_id], "answered at the terminal")
    said = believed(step.session, seen)
    if said is AgentState.IDLE:
        end_run(step, "aborted")
    if said is not None or seen.process != step.session.process:
        data = d.SessionStateData(
            status="" if said is None else seen.status,
            waiting_for=None if said is None else seen.waiting_for,
            pid=seen.process.pid,
            start=seen.process.start,
        )
        step.emit("session.state", data, level="debug")


def process_gone(step: Step, gone: ProcessGone) -> None:
    """End a session whose process has ended: nobody else will say so."""
    session = step.draft.sessions.get(gone.session_id)
    if session is None or session.process != gone.process:
        return
    resolve_rest(step, "the agent's process is gone")
    end_run(step, "aborted")
    data = d.SessionEndData(reason=gone.reason, source="process")
    step.emit("session.end", data, level="warn", outside=True)


def age(step: Step) -> None:
    """What nothing was heard of for long, and whose process was never seen, is not known."""
    for session in list(step.draft.sessions.values()):
        silent = step.at - session.last_event_at > STALE_SECONDS
        known = session.process is not None or session.waiting or session.agent_state is AgentState.UNKNOWN
        if silent and not known:
            step.session_id = session.session_id
            step.emit("session.state", d.SessionStateData(status="stale"), level="debug")
