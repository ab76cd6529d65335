"""The state of an agent in one word, and the table of what changes it."""

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
"""The state that a kind sets whatever its data. `session.start`, `session.end`, `stop.request`, `notification` and
decisions depend on their data: see `fold` and `folds` in `core.engine`."""

LATE_KINDS = frozenset({"tool.post", "tool.failure", "tool.batch"})
"""Kinds that may arrive after the agent has stopped: they never set a resting session to running."""

STATE_KINDS = frozenset({*STATE_AFTER, "session.start", "session.end", "stop.request"})
"""Kinds by which hooks report the state, even when it does not change."""

STATE_OF_PROCESS: Mapping[str, AgentState] = {
    "idle": AgentState.IDLE,
    "shell": AgentState.IDLE,
    "busy": AgentState.RUNNING,
    "stale": AgentState.UNKNOWN,
}
"""The state for each status of the agent's process, where hooks report none. `shell` is idle with a shell in the
background; `stale` is Quarterdeck's own word for a session without any sign of life for long."""


SILENT = "silent"
"""The word for a session whose process has changed while no hook came: its hooks do not reach the daemon."""


def state_of_process(status: str, waiting_for: str | None) -> AgentState | None:
    """The state that a process file reports; None when it reports none: any menu a person opens is a `dialog open`."""
    if status == "waiting" and waiting_for == "permission prompt":
        return AgentState.WAITING_PERMISSION
    return STATE_OF_PROCESS.get(status)


def state_after(kind: str, now: AgentState) -> AgentState:
    """The state after an event of this kind."""
    if kind in LATE_KINDS and now in RESTING:
        return now
    if now is AgentState.ENDED and kind != "user.prompt":
        return now
    return STATE_AFTER.get(kind, now)
