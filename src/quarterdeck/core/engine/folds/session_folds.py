"""The change of the state by events about owned sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data.owned_session_data import (
    AgentNoteData,
    SessionChangeData,
    SessionCloseData,
    SessionFailedData,
    SessionGivenData,
    SessionLaunchData,
    SessionSendData,
    SessionUpData,
    TurnResultData,
)
from quarterdeck.core.model.event_data.session_data import SessionInterruptData
from quarterdeck.core.model.events import SYSTEM, FeedEvent
from quarterdeck.core.model.state import Ownership, ProcessId, Session

Change = dict[str, Any]


def _launch(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionLaunchData = event.data
    before = draft.session(data.continues, event.at) if data.continues else None
    agent = change.get("context", session.context).agent  # all else is what it was: older logs fold as they did
    change |= {
        "mode": data.mode,
        "ended_at": None,
        "last_error": before.last_error if before else session.last_error if data.by == SYSTEM else None,
        "process": before.process if before else None,
        "title": data.title or session.title,
        "model": data.model or session.model,
        "context": replace(session.context, cwd=data.cwd or session.context.cwd, tag=data.handle, agent=agent),
        "owned": Ownership(
            handle=data.handle,
            by=data.by,
            launched_at=event.at,
            status="up" if before else "starting",
            terminal=before.owned.terminal if before and before.owned else None,
            worktree=data.worktree,
            permission_mode=data.permission_mode,
            model=data.model,
            shell=data.shell,
            forked_from=data.forked_from,
            fork_at=data.fork_at,
            answered=data.resumed and not data.unsure,
            queued=before.owned.queued if before and before.owned else _first_prompt(data),
            delivered=bool(before and before.owned and before.owned.delivered),
        ),
    }
    if data.forked_from:
        change["transcript"] = replace(session.transcript, forked_at=event.at)
    if session.agent_state is AgentState.ENDED or not before:
        change["agent_state"] = AgentState.SENT if data.prompt else AgentState.UNKNOWN
    if before and before.owned:
        moved = replace(before.owned, status="moved", moved_to=session.session_id, queued=(), delivered=False)
        draft.put_session(replace(before, owned=moved))


def _first_prompt(data: SessionLaunchData) -> tuple[None, ...]:
    """The queue at launch. A terminal starts with its first prompt; over the SDK it is sent like any other."""
    return (None,) if data.mode == "sdk" and data.prompt is not None else ()


def _change_owned(session: Session, change: Change, **fields: Any) -> None:
    """Change facts of an owned session. Such an event about another one, as in a damaged log, changes nothing."""
    if session.owned is not None:
        change["owned"] = replace(session.owned, **fields)


def _up(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionUpData = event.data
    status = {"status": "up"} if session.owned is not None and session.owned.status == "starting" else {}
    _change_owned(session, change, terminal=data.terminal, **status)
    if data.pid is not None and data.start is not None:
        change["process"] = ProcessId(data.pid, data.start)


def _close(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionCloseData = event.data
    _change_owned(session, change, status="ending", next_mode=data.next_mode, ended_by=data.by)


def _failed(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """Undo the effect of a failed command: a session that could not be ended still runs, and can be ended again."""
    data: SessionFailedData = event.data
    if data.order == "send":
        _dequeue(session, data.message_id, change)
    elif data.order == "end" and session.owned is not None and session.owned.status == "ending":
        change["owned"] = replace(session.owned, status="up", next_mode=None, ended_by=None)


def _exit(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """Keep an earlier error only where nobody ended the session: an SDK session whose host was lost."""
    owned = session.owned
    kept = session.last_error if session.mode == "sdk" and owned is not None and owned.ended_by is None else None
    change["last_error"] = event.data.failure or kept
    _change_owned(session, change, status="down", terminal=None, queued=(), delivered=False)


def _change(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionChangeData = event.data
    chosen = {"model": data.model, "permission_mode": data.permission_mode}
    _change_owned(session, change, **{name: value for name, value in chosen.items() if value})
    change["model"] = data.model or session.model
    if data.permission_mode:
        change["context"] = replace(session.context, permission_mode=data.permission_mode)


def _send(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionSendData = event.data
    if session.owned is not None:
        change["owned"] = replace(session.owned, queued=(*session.owned.queued, data.message_id))
    if session.agent_state is AgentState.UNKNOWN:
        change["agent_state"] = AgentState.SENT


def _given(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """A prompt typed into a terminal stays there even if the daemon stops. Over the SDK it may still be lost then, so
    it stays in the queue until the agent works on it."""
    data: SessionGivenData = event.data
    if session.mode != "sdk":
        _dequeue(session, data.message_id, change)
    elif session.owned is not None:
        rest = (one for one in session.owned.queued if one != data.message_id)
        change["owned"] = replace(session.owned, queued=(data.message_id, *rest), delivered=True, interrupted=False)


def without_delivered(owned: Ownership) -> Ownership:
    """Take the delivered prompt from the queue: the agent works on it, or has done so."""
    return replace(owned, queued=owned.queued[1:], delivered=False) if owned.delivered else owned


def _dequeue(session: Session, message_id: str | None, change: Change) -> None:
    """Take a prompt from the queue: the agent has it, or will never get it."""
    if session.owned is not None and message_id in session.owned.queued:
        rest = tuple(one for one in session.owned.queued if one != message_id)
        delivered = session.owned.delivered and session.owned.queued[0] != message_id
        change["owned"] = replace(session.owned, queued=rest, delivered=delivered)


def _interrupt(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionInterruptData = event.data
    _change_owned(session, change, interrupted=not data.idle)


def _turn(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """End the turn. After one that failed, or a command of the agent's own, no hook says that the agent is idle."""
    data: TurnResultData = event.data
    if session.owned is not None:
        change["owned"] = replace(without_delivered(session.owned), answered=True, interrupted=False)
    change["last_error"] = data.failure if data.has_failed else None
    if session.agent_state is AgentState.SENT or (data.is_error and session.agent_state is not AgentState.ENDED):
        change["agent_state"] = AgentState.IDLE


def _note(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: AgentNoteData = event.data
    if data.retrying:
        change["retrying"] = data.retrying


def _discarded(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    _change_owned(session, change, worktree=None)


OWNED_SESSION_FOLDS: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
    "session.launch": _launch,
    "session.up": _up,
    "session.close": _close,
    "session.failed": _failed,
    "session.exit": _exit,
    "session.change": _change,
    "session.send": _send,
    "session.given": _given,
    "session.interrupt": _interrupt,
    "turn.result": _turn,
    "agent.note": _note,
    "worktree.discard": _discarded,
}
