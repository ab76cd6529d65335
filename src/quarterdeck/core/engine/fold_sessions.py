"""How events about sessions of ours change the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from quarterdeck.core.engine.draft import Draft
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.event_data import SessionInterruptData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Ours, ProcessId, Session

Change = dict[str, Any]


def _launch(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: o.SessionLaunchData = event.data
    before = draft.session(data.continues, event.at) if data.continues else None
    change |= {
        "mode": data.mode,
        "ended_at": None,
        "process": before.process if before else None,
        "title": data.title or session.title,
        "model": data.model or session.model,
        "context": replace(session.context, cwd=data.cwd or session.context.cwd, tag=data.handle),
        "ours": Ours(
            handle=data.handle,
            by=data.by,
            launched_at=event.at,
            status="up" if before else "starting",
            terminal=before.ours.terminal if before and before.ours else None,
            worktree=data.worktree,
            permission_mode=data.permission_mode,
            model=data.model,
            shell=data.shell,
            answered=data.resumed and not data.unsure,
            queued=before.ours.queued if before and before.ours else _first(data),
            given=bool(before and before.ours and before.ours.given),
        ),
    }
    if data.forked_from:
        change["transcript"] = replace(session.transcript, forked_at=event.at)
    if session.agent_state is AgentState.ENDED or not before:
        change["agent_state"] = AgentState.SENT if data.prompt else AgentState.UNKNOWN
    if before and before.ours:
        moved = replace(before.ours, status="moved", moved_to=session.session_id, queued=(), given=False)
        draft.put_session(replace(before, ours=moved))


def _first(data: o.SessionLaunchData) -> tuple[None, ...]:
    """A terminal has its first prompt when it runs; over the SDK it is sent as any other."""
    return (None,) if data.mode == "sdk" and data.prompt is not None else ()


def _up(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: o.SessionUpData = event.data
    if session.ours is not None:
        status = "up" if session.ours.status == "starting" else session.ours.status
        change["ours"] = replace(session.ours, status=status, terminal=data.terminal)
    if data.pid is not None and data.start is not None:
        change["process"] = ProcessId(data.pid, data.start)


def _close(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: o.SessionCloseData = event.data
    if session.ours is not None:
        change["ours"] = replace(session.ours, status="ending", next_mode=data.next_mode, ended_by=data.by)


def _failed(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """What could not be ended still runs, and can be ended again."""
    data: o.SessionFailedData = event.data
    if data.order == "send":
        _taken(session, data.message_id, change)
    elif data.order == "end" and session.ours is not None and session.ours.status == "ending":
        change["ours"] = replace(session.ours, status="up", next_mode=None, ended_by=None)


def _exit(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    if session.ours is not None:
        change["ours"] = replace(session.ours, status="down", terminal=None, queued=(), given=False)


def _change(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: o.SessionChangeData = event.data
    if session.ours is not None:
        change["ours"] = replace(
            session.ours,
            model=data.model or session.ours.model,
            permission_mode=data.permission_mode or session.ours.permission_mode,
        )
    change["model"] = data.model or session.model
    if data.permission_mode:
        change["context"] = replace(session.context, permission_mode=data.permission_mode)


def _send(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: o.SessionSendData = event.data
    if session.ours is not None:
        change["ours"] = replace(session.ours, queued=(*session.ours.queued, data.message_id))
    if session.agent_state is AgentState.UNKNOWN:
        change["agent_state"] = AgentState.SENT


def _given(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """What was typed stands in a terminal that goes on without us. Over the SDK it may still be lost with us."""
    data: o.SessionGivenData = event.data
    if session.mode != "sdk":
        _taken(session, data.message_id, change)
    elif session.ours is not None:
        rest = (one for one in session.ours.queued if one != data.message_id)
        change["ours"] = replace(session.ours, queued=(data.message_id, *rest), given=True, interrupted=False)


def heard(ours: Ours) -> Ours:
    """The agent works on what it was given, or has done so."""
    return replace(ours, queued=ours.queued[1:], given=False) if ours.given else ours


def _taken(session: Session, message_id: str | None, change: Change) -> None:
    """It waits no longer, for the agent has it or never will."""
    if session.ours is not None and message_id in session.ours.queued:
        rest = tuple(one for one in session.ours.queued if one != message_id)
        given = session.ours.given and session.ours.queued[0] != message_id
        change["ours"] = replace(session.ours, queued=rest, given=given)


def _interrupt(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    data: SessionInterruptData = event.data
    if session.ours is not None:
        change["ours"] = replace(session.ours, interrupted=not data.idle)


def _turn(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    """After a turn that did not end by itself, or a command of the agent's own, no hook says that the agent rests."""
    data: o.TurnResultData = event.data
    if session.ours is not None:
        change["ours"] = replace(heard(session.ours), answered=True, interrupted=False)
    if session.agent_state is AgentState.SENT or (data.is_error and session.agent_state is not AgentState.ENDED):
        change["agent_state"] = AgentState.IDLE


def _discarded(draft: Draft, session: Session, event: FeedEvent, change: Change) -> None:
    if session.ours is not None:
        change["ours"] = replace(session.ours, worktree=None)


OURS: dict[str, Callable[[Draft, Session, FeedEvent, Change], None]] = {
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
    "worktree.discard": _discarded,
}
