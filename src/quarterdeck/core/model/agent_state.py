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

SAYS_STATE = frozenset({*STATE_AFTER, "session.start", "session.end", "stop.request"})
"""Kinds by which hooks say what the agent does, even when that is what was known."""

STATE_OF_PROCESS: Mapping[str, AgentState] = {
    "idle": AgentState.IDLE,
    "shell": AgentState.IDLE,
    "busy": AgentState.RUNNING,
    "stale": AgentState.UNKNOWN,
}
"""What the process table's word means where hooks were silent; `shell` is idle beside a shell in the background,
`stale` our own word for a session that nothing was heard or seen of for long."""


def state_of_process(status: str, waiting_for: str | None) -> AgentState | None:
    """The state a sessions file tells; None where it tells none: any menu a person opens is a `dialog open`."""
    if status == "waiting" and waiting_for == "permission prompt":
        return AgentState.WAITING_PERMISSION
    return STATE_OF_PROCESS.get(status)


def state_after(kind: str, now: AgentState) -> AgentState:
    """The state after an event of this kind."""
    if kind in LATE and now in RESTING:
        return now
    if now is AgentState.ENDED and kind != "user.prompt":
        return now
    return STATE_AFTER.get(kind, now)
