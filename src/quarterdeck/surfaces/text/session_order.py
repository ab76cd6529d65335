"""The order of sessions in every list: by what a person must do, then the longest wait first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.surfaces.text.labels import has_failed
from quarterdeck.views.resources.session_view import SessionView

NEEDS_PERSON = (AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT, AgentState.BLOCKED)
"""States in which a person must act, the most urgent first. A session whose last run failed counts as blocked."""
OTHERS = (
    AgentState.RUNNING,
    AgentState.SETTLED,
    AgentState.COMPLETE,
    AgentState.IDLE,
    AgentState.SENT,
    AgentState.UNKNOWN,
    AgentState.ENDED,
)
RANKS: Mapping[str, int] = {state.value: rank for rank, state in enumerate((*NEEDS_PERSON, *OTHERS))}


def in_order(sessions: Iterable[SessionView]) -> list[Any]:
    """The sessions, those first that need a person. Ended sessions come last, the latest first."""
    return sorted(sessions, key=_sort_key)


def state_since(session: SessionView) -> float:
    """The time at which the session's current activity began: its run while it runs, else its state."""
    began = session.run_started_at if session.agent_state == AgentState.RUNNING else None
    return float(began or session.state_at or session.last_event_at)


def _sort_key(session: SessionView) -> tuple[int, float, str]:
    if session.ended_at is not None:
        return RANKS[AgentState.ENDED], -session.ended_at, session.session_id
    return _rank(session), state_since(session), session.session_id


def _rank(session: SessionView) -> int:
    state = session.agent_state
    if session.pending and state not in NEEDS_PERSON:
        return RANKS[AgentState.WAITING_PERMISSION]
    if has_failed(session):
        return RANKS[AgentState.BLOCKED]
    return RANKS.get(state, RANKS[AgentState.UNKNOWN])
