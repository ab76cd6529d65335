"""The word and the sign for what a session does, for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from quarterdeck.core.model.agent_state import AgentState


class StateLabel(NamedTuple):
    """The label of a state. The colour is never the only difference between two states."""

    glyph: str
    word: str
    colour: str


STATES: Mapping[str, StateLabel] = {
    AgentState.RUNNING: StateLabel("●", "running", "green"),
    AgentState.WAITING_PERMISSION: StateLabel("◆", "needs you", "yellow"),
    AgentState.WAITING_INPUT: StateLabel("?", "asks", "cyan"),
    AgentState.IDLE: StateLabel("○", "idle", "bright_black"),
    AgentState.COMPLETE: StateLabel("✓", "done", "blue"),
    AgentState.SETTLED: StateLabel("■", "ready", "bright_blue"),
    AgentState.BLOCKED: StateLabel("✕", "blocked", "red"),
    AgentState.SENT: StateLabel("→", "sent", "bright_black"),
    AgentState.UNKNOWN: StateLabel("·", "unknown", "dim"),
    AgentState.ENDED: StateLabel("–", "ended", "dim"),
}


FAILED = StateLabel("✕", "failed", "red")
"""The label of a session that rests because its last run failed."""

RETRYING = StateLabel("↻", "retrying", "yellow")
"""The label of a session whose agent works, but waits before it calls its model again."""

OVER_FAILURE = frozenset(
    {
        AgentState.RUNNING,
        AgentState.WAITING_PERMISSION,
        AgentState.WAITING_INPUT,
        AgentState.BLOCKED,
        AgentState.ENDED,
    }
)
"""States that say more than that the last run failed."""


def state_word(state: str, last_error: str | None = None, retrying: str | None = None) -> StateLabel:
    """The label of a session in this state; an unknown state is shown by its name."""
    if retrying and state == AgentState.RUNNING:
        return RETRYING
    if is_failed(state, last_error):
        return FAILED
    return STATES.get(state) or StateLabel("·", state, "dim")


def is_failed(state: str, last_error: str | None) -> bool:
    """True if a session rests because its last run failed."""
    return bool(last_error) and state not in OVER_FAILURE
