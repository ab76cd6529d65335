"""Owned sessions whose agent changed its id."""

from __future__ import annotations

from quarterdeck.core.engine.prompt_queue import is_unprompted_fork
from quarterdeck.core.engine.step import Step
from quarterdeck.core.model.event_data.owned_session_data import SessionLaunchData
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.core.model.state import Session, State

MAX_MOVES = 1000
"""Ends the search in a log with a circle of moves, which only a damaged one can hold."""


def current_session(state: State, handle: str) -> Session | None:
    """The session that was started with this id, under the id that its agent uses now."""
    session = state.sessions.get(handle) or state.ended.get(handle)
    for _ in range(MAX_MOVES):
        if session is None or session.owned is None or session.owned.moved_to is None:
            break
        session = state.sessions.get(session.owned.moved_to) or state.ended.get(session.owned.moved_to)
    return session


def turn_to_fork(step: Step, tag: str) -> None:
    """Let a start count for the owned fork that reports it under its parent's id, as older agents do. Otherwise it
    would look as if the parent had been resumed."""
    fork = current_session(step.draft.state, tag) if tag else None
    if fork is None or fork.owned is None or not fork.owned.runs or not is_unprompted_fork(fork):
        return
    if fork.owned.forked_from == step.session_id:
        step.session_id, step.context = fork.session_id, None  # the context is the other conversation's


def adopt_new_id(step: Step, tag: str, source: str, context: Context) -> None:
    """Keep a session owned when its agent takes another id, as on /clear."""
    if source != "clear" or not tag:
        return
    before = current_session(step.draft.state, tag)
    if before is None or before.owned is None or not before.owned.runs or before.session_id == step.session_id:
        return
    owned = before.owned
    data = SessionLaunchData(
        mode=before.mode,
        by=owned.by,
        cwd=context.cwd or before.context.cwd,
        handle=owned.handle,
        permission_mode=owned.permission_mode,
        model=owned.model,
        continues=before.session_id,
        worktree=owned.worktree,
    )
    step.emit("session.launch", data, outside=True)
