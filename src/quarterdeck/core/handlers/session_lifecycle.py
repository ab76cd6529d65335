"""Sessions of ours begin and end: what is recorded, what the runner is told to do, and what follows."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from quarterdeck.core.engine.session_identity import current
from quarterdeck.core.engine.session_messages import (
    Down,
    Failed,
    Finish,
    Given,
    Launch,
    News,
    Noted,
    Start,
    TurnEnded,
    Up,
    WorktreeChanged,
)
from quarterdeck.core.engine.step import Step
from quarterdeck.core.engine.turn_result import turn_result
from quarterdeck.core.handlers.hooks import end_run
from quarterdeck.core.handlers.requests import resolve_rest
from quarterdeck.core.model import event_data as d
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.events import SYSTEM, USER
from quarterdeck.core.model.state import Ours, Session

LAST_WORDS = 4096
NOT_SEEN = "Quarterdeck stopped before it was seen to reach the agent; look at the feed, then send it again"
AT_WORK = frozenset({AgentState.RUNNING, AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT})


def launch(step: Step, start: Start, *, actor: str = USER) -> None:
    """Record that a session starts, and have it started."""
    step.session_id = start.session_id
    after = step.session.process
    end_run(step, "aborted")
    data = o.SessionLaunchData(
        mode=start.mode,
        by=start.by,
        cwd=start.cwd,
        handle=start.session_id,
        prompt=start.prompt,
        permission_mode=start.permission_mode,
        model=start.model,
        resumed=start.resume == start.session_id,
        forked_from=start.resume if start.fork else None,
        fork_at=start.fork_at,
        title=start.title,
        worktree=start.worktree,
        shell=start.shell,
        unsure=start.unsure,
    )
    step.emit("session.launch", data, actor=actor, outside=True)
    step.effects.append(Launch(start=start, after=after))


def close(
    step: Step, session: Session, ours: Ours, by: str, *, next_mode: str | None = None, actor: str = USER
) -> None:
    """Record that a session shall end, and have it ended."""
    step.emit("session.close", o.SessionCloseData(by=by, next_mode=next_mode), actor=actor)
    step.effects.append(Finish(mode=session.mode, handle=ours.handle))


def hear_news(step: Step, news: News) -> None:
    """What the runner tells of a session of ours, by its handle."""
    session = current(step.draft.state, news.session_id)
    if session is None or session.ours is None:
        return
    step.session_id = session.session_id
    match news:
        case Up():
            if session.ours.runs:
                _up(step, session, session.ours, news)
        case Down():
            if session.ours.runs:
                _down(step, session, session.ours, news)
        case Failed(order=order, error=error, message_id=message_id):
            data = o.SessionFailedData(order=order, error=error, message_id=message_id)
            step.emit("session.failed", data, level="error")
        case Given(message_id=message_id):
            if message_id in session.ours.queued:
                step.emit("session.given", o.SessionGivenData(message_id=message_id), level="debug")
        case TurnEnded(result=result):
            _turn_ended(step, session.ours, o.TurnResultData(**turn_result(result)))
        case Noted(name=name, body=body):
            step.emit("agent.note", o.AgentNoteData(name=name, body=body), level="debug")
        case WorktreeChanged(action=action, branch=branch, path=path, base=base, by=by):
            changed = d.WorktreeData(name=branch, worktree_path=path, by=by, base=base)
            step.emit(f"worktree.{action}", changed, actor=USER, outside=True)
        case _:
            assert_never(news)


def _up(step: Step, session: Session, ours: Ours, news: Up) -> None:
    """What was to end when we did is ended now."""
    pid, start = (news.process.pid, news.process.start) if news.process else (None, None)
    step.emit("session.up", o.SessionUpData(pid=pid, start=start, terminal=news.terminal), level="debug")
    if news.found and ours.status == "ending":
        step.effects.append(Finish(mode=session.mode, handle=ours.handle))


def _turn_ended(step: Step, ours: Ours, data: o.TurnResultData) -> None:
    """One that a person interrupted, or ended with its session, is no error of the agent's."""
    if data.is_error and (ours.interrupted or ours.ended_by is not None):
        data = replace(data, interrupted=True)
    if data.is_error:
        resolve_rest(step, "the turn ended")
    level = "error" if data.is_error and not data.interrupted else "info"
    step.emit("turn.result", data, level=level, of_last_run=step.session.run is None)
    if data.is_error:
        end_run(step, "aborted")


def _down(step: Step, session: Session, ours: Ours, news: Down) -> None:
    """Nobody else says that it ended; what was asked for after that comes now."""
    unexpected = ours.ended_by is None and (news.code != 0 or news.signal is not None)
    cut_off = session.run.prompt_preview if session.run and ours.ended_by is None else None
    resolve_rest(step, "the session ended")
    end_run(step, "aborted")
    data = o.SessionExitData(
        mode=session.mode,
        reason=news.reason,
        code=news.code,
        signal=news.signal,
        last_words=news.last_words[-LAST_WORDS:],
        cut_off=cut_off,
    )
    step.emit("session.exit", data, level="error" if unexpected else "info", outside=True)
    if step.session.ended_at is None:
        step.emit("session.end", d.SessionEndData(reason=news.reason, source="process"), outside=True)
    if ours.next_mode is not None:
        launch(step, _again(session, ours, ours.next_mode, ours.ended_by or ours.by, step.at))


def _again(session: Session, ours: Ours, mode: str, by: str, at: float) -> Start:
    """The order that lets a session go on where it was."""
    return Start(
        session_id=session.session_id,
        mode=mode,
        cwd=session.context.cwd,
        by=by,
        at=at,
        permission_mode=ours.permission_mode or session.context.permission_mode or None,
        model=ours.model,
        resume=session.session_id if session.runs or ours.answered else None,
        unsure=not ours.answered,
        worktree=ours.worktree,
    )


def come_back(step: Step) -> None:
    """After a restart: what ran through the SDK went with us and goes on; the runner looks for terminals. A prompt that
    waited for what was cut off is not sent to somebody who has not done that: it is named."""
    for session in list(step.draft.sessions.values()):
        ours = session.ours
        if ours is None or not ours.runs:
            continue
        step.session_id = session.session_id
        step.context = None
        for message_id in ours.queued:
            data = o.SessionFailedData(order="send", error=NOT_SEEN, message_id=message_id)
            step.emit("session.failed", data, level="error")
        if session.mode != "sdk":
            continue
        session = step.session
        handle = ours.handle
        _down(step, session, ours, Down(session_id=handle, at=step.at, reason="was cut off when Quarterdeck stopped"))
        was_coming_back = ours.status == "starting" and ours.by == SYSTEM
        if ours.next_mode is None and (ours.status == "up" or was_coming_back):
            launch(step, _again(session, ours, "sdk", SYSTEM, step.at), actor=SYSTEM)


def reap_idle(step: Step) -> None:
    """End what has had nothing to do for long, where the person settled that."""
    seconds = step.draft.state.settings.idle_seconds
    if not seconds:
        return
    for session in list(step.draft.sessions.values()):
        ours = session.ours
        rests = session.run is None and not session.waiting and session.agent_state not in AT_WORK
        if (
            ours
            and ours.status == "up"
            and session.mode == "sdk"
            and rests
            and step.at - session.last_event_at > seconds
        ):
            step.session_id = session.session_id
            close(step, session, ours, "idle", actor=SYSTEM)
