"""Prompts to a session of ours that wait for the turns before them."""

from __future__ import annotations

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Session

RESTS = frozenset({AgentState.IDLE, AgentState.SETTLED, AgentState.COMPLETE})


def waiting_prompts(session: Session) -> int:
    """How many prompts the agent was not given yet."""
    return len(_waiting(session))


def ahead_of(session: Session, message_id: str) -> int:
    """How many turns come before that of a prompt, the running one among them; 0 for one that does not wait. What is
    typed into a terminal waits there, in the agent's own queue."""
    waiting = _waiting(session)
    if session.mode != "sdk" or message_id not in waiting:
        return 0
    works = session.run is not None or bool(session.ours and session.ours.given)
    return waiting.index(message_id) + works


def rests(session: Session) -> bool:
    """Whether nothing is known to run or to come that could be interrupted."""
    given = session.ours is not None and session.ours.given
    return session.agent_state in RESTS and session.run is None and not given and not _waiting(session)


def _waiting(session: Session) -> tuple[str | None, ...]:
    ours = session.ours
    if ours is None:
        return ()
    return ours.queued[1:] if ours.given else ours.queued
