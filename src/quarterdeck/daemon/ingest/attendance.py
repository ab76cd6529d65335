"""Attendance: is a person there to decide? A program that only polls does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

from quarterdeck.api.http.guard import ApiCall

ATTENDED_SECONDS = 600.0
"""How long a person's own call counts."""
RETURN_SECONDS = 30.0
"""How long a visible surface counts after its connection is lost: a page that is loaded again comes back sooner."""
MOST_READS = 1000
READS = ("GET", "HEAD", "OPTIONS")
MONITORING = frozenset(
    f"/api/v1/{name}" for name in ("stats", "me", "clients", "runners", "health", "openapi.json", "socket.json")
) | {"/metrics"}
"""Paths that programs read to watch the daemon itself."""


class Attendance:
    """A person is there while a surface is visible, or made a call of its own in the last 10 minutes.

    Reading the same thing again within that time is polling and counts only from a terminal; anything that changes
    something always counts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.surfaces = 0
        self.visible = 0
        self.at_hub = 0
        """How many people look at the hub that this machine is connected to."""
        self._clock = clock
        self._until = float("-inf")
        self._read: dict[tuple[str, str], float] = {}

    def connected(self, change: int) -> None:
        """Count a surface that connected (1) or left (-1)."""
        self.surfaces += change

    def showing(self, change: int) -> None:
        """Count a surface that became visible (1) or hidden (-1)."""
        self.visible += change

    def left_visible(self) -> None:
        """A surface was visible when its connection ended."""
        self._stay(RETURN_SECONDS)

    def person_called(self) -> None:
        """A person did something."""
        self._stay(ATTENDED_SECONDS)

    def called(self, call: ApiCall) -> None:
        """An authenticated call of the API."""
        if call.path in MONITORING and not call.from_terminal:
            return
        if call.method not in READS or call.from_terminal or not self._is_repeated(call):
            self.person_called()

    def _is_repeated(self, call: ApiCall) -> bool:
        now, key = self._clock(), (call.credential, call.path)
        last = self._read.pop(key, float("-inf"))
        self._read[key] = now
        while len(self._read) > MOST_READS:
            del self._read[next(iter(self._read))]
        return now - last < ATTENDED_SECONDS

    def _stay(self, seconds: float) -> None:
        self._until = max(self._until, self._clock() + seconds)

    def now(self) -> bool:
        """True while a person is there."""
        return self.visible > 0 or self.at_hub > 0 or self._clock() < self._until
