"""Prompts to an owned session that wait for earlier turns."""

from __future__ import annotations

from quarterdeck.core.model.agent_state import AgentState
from quarterdeck.core.model.state import Session

RESTING_STATES = frozenset({AgentState.IDLE, AgentState.SETTLED, AgentState.COMPLETE})


def waiting_prompts(session: Session) -> int:
    """The number of prompts that have not reached the agent."""
    return len(_undelivered(session))


def turns_ahead(session: Session, message_id: str) -> int:
    """The number of turns before that of a prompt, including the running one; 0 for a prompt that does not wait. A
    prompt typed into a terminal waits there, in the agent's own queue."""
    waiting = _undelivered(session)
    if session.mode != "sdk" or message_id not in waiting:
        return 0
    working = _has_turn(session) or bool(session.owned and session.owned.delivered)
    return waiting.index(message_id) + working


def is_resting(session: Session) -> bool:
    """True when no turn is known to be running or queued, so that there is nothing to interrupt."""
    delivered = session.owned is not None and session.owned.delivered
    is_quiet = session.agent_state in RESTING_STATES and not _has_turn(session)
    return is_quiet and not delivered and not _undelivered(session)


def has_conversation(session: Session) -> bool:
    """False for an owned session that never got a prompt: its agent has kept nothing that could be continued."""
    return session.owned is None or session.owned.answered or session.runs > 0


def is_unprompted_fork(session: Session) -> bool:
    """True for a fork that has no conversation of its own yet."""
    return session.owned is not None and session.owned.forked_from is not None and not has_conversation(session)


def _has_turn(session: Session) -> bool:
    """True while a turn runs. The run of a session that was resumed is open before its first prompt."""
    run = session.run
    return run is not None and not (run.trigger == "resume" and session.agent_state in RESTING_STATES)


def _undelivered(session: Session) -> tuple[str | None, ...]:
    owned = session.owned
    if owned is None:
        return ()
    return owned.queued[1:] if owned.delivered else owned.queued
