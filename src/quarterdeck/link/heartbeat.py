"""Heartbeat: when to ping, and when a connection counts as dead."""

from __future__ import annotations

MOST_MISSED = 2


class Heartbeat:
    """The heartbeat of one connection, on a monotonic clock. Everything that the other side sends counts as a sign of
    life."""

    def __init__(self, seconds: float, now: float) -> None:
        self.seconds = seconds
        self._next = now + seconds
        self._missed = 0

    @property
    def due_at(self) -> float:
        """When `beat` has something to do next."""
        return self._next

    def reset(self) -> None:
        """Count a sign of life."""
        self._missed = 0

    def beat(self, now: float) -> bool | None:
        """True when a ping must be sent now, False when the connection is dead, None when nothing is due. The clock may
        have jumped over several beats, as after a suspend: only a ping that was sent can be missed."""
        if now < self._next:
            return None
        if self._missed >= MOST_MISSED:
            return False
        self._missed += 1
        self._next = now + self.seconds
        return True
