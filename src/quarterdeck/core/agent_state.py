"""The one word a person needs per session, and the table of what changes it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class AgentState(StrEnum):
    UNKNOWN = "unknown"
    SENT = "sent"
    IDLE = "idle"
    RUNNING = "running"
    WAITING_PERMISSION = "waiting_permission"
    WAITING_INPUT = "waiting_input"
    BLOCKED = "blocked"
    SETTLED = "settled"
    COMPLETE = "complete"
    ENDED = "ended"


WAITING = frozenset({AgentState.WAITING_PERMISSION, AgentState.WAITING_INPUT})
RESTING = frozenset({AgentState.SETTLED, AgentState.COMPLETE, AgentState.ENDED})

STATE_AFTER: Mapping[str, AgentState] = {
    "user.prompt": AgentState.RUNNING,
    "tool.pre": AgentState.RUNNING,
    "tool.post": AgentState.RUNNING,
    "tool.failure": AgentState.RUNNING,
    "tool.batch": AgentState.RUNNING,
    "subagent.start": AgentState.RUNNING,
    "permission.request": AgentState.WAITING_PERMISSION,
    "question.request": AgentState.WAITING_INPUT,
    "elicitation.result": AgentState.RUNNING,
    "stop.failure": AgentState.SETTLED,
}
"""What a kind sets whatever its data; `session.start`, `session.end`, `stop.request`, `notification` and
decisions depend on their data and are told in `core.fold`."""

LATE = frozenset({"tool.post", "tool.failure", "tool.batch"})
"""Kinds that may arrive after the agent has stopped: they never wake a session that rests."""

STATE_OF_PROCESS: Mapping[str, AgentState] = {
    "idle": AgentState.IDLE,
    "busy": AgentState.RUNNING,
}
"""What the sessions file's status means where hooks were silent."""


def state_after(kind: str, now: AgentState) -> AgentState:
    """The state after an event of this kind."""
    if kind in LATE and now in RESTING:
        return now
    if now is AgentState.ENDED and kind != "user.prompt":
        return now
    return STATE_AFTER.get(kind, now)
