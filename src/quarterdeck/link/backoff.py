"""Backoff: how long a runner waits before it connects again."""

from __future__ import annotations

STEADY_SECONDS = 30.0
"""The attempts are forgotten only after the link was ready this long: a hub that takes every runner and then fails
would otherwise be asked every second."""

MOST_DOUBLINGS = 32


class Backoff:
    """Waits that double from `initial` to `maximum`, each a random part of the whole (full jitter), so that many
    runners that lost one hub do not come back at the same moment."""

    def __init__(self, initial: float, maximum: float) -> None:
        self._initial, self._maximum = initial, maximum
        self.attempt = 0

    def next_delay(self, chance: float, retry_after: float | None = None) -> float:
        """The next wait. `chance` is a random number from 0 to 1; the hub's `retry_after` is waited for in any case."""
        longest = min(self._maximum, self._initial * 2.0 ** min(self.attempt, MOST_DOUBLINGS))
        self.attempt += 1
        return chance * longest + max(0.0, retry_after or 0.0)

    def ready_for(self, seconds: float) -> None:
        """Forget the attempts if the link was ready long enough."""
        if seconds >= STEADY_SECONDS:
            self.attempt = 0
