"""Which session is which of ours, when an agent changes its id."""

from __future__ import annotations

from quarterdeck.core.engine.step import Step
from quarterdeck.core.model import session_event_data as o
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Session, State

MOVES = 1000


def current(state: State, handle: str) -> Session | None:
    """The session that was started with this id, by whatever id the agent goes on."""
    session = state.sessions.get(handle) or state.ended.get(handle)
    for _ in range(MOVES):
        if session is None or session.ours is None or session.ours.moved_to is None:
            break
        session = state.sessions.get(session.ours.moved_to) or state.ended.get(session.ours.moved_to)
    return session


def go_on_as(step: Step, tag: str, source: str, context: Context) -> None:
    """An agent of ours gave itself another id, as on /clear: it is still ours."""
    if source != "clear" or not tag:
        return
    before = current(step.draft.state, tag)
    if before is None or before.ours is None or not before.ours.runs or before.session_id == step.session_id:
        return
    ours = before.ours
    data = o.SessionLaunchData(
        mode=before.mode,
        by=ours.by,
        cwd=context.cwd or before.context.cwd,
        handle=ours.handle,
        permission_mode=ours.permission_mode,
        model=ours.model,
        continues=before.session_id,
        worktree=ours.worktree,
    )
    step.emit("session.launch", data, outside=True)
