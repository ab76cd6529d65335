"""Counters and histograms about the daemon, cheap enough for the hot path."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Sequence
from itertools import accumulate
from time import perf_counter
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
# Sessions come and go for as long as the daemon runs.
MAX_SESSIONS = 200
# Short enough to see a stall of 50 ms; while nothing happens such a timer would only keep the processor awake.
BUSY_SECONDS = 0.02
IDLE_SECONDS = 0.5
WINDOW_SECONDS = 60.0
# A minute of samples at BUSY_SECONDS.
LAG_SAMPLES = 3_000
MAX_MISSED = 500
"""At most this many samples that one stall kept from being taken are counted."""


class Histogram:
    """Counts in fixed buckets. `bounds` are their upper ends; values above the last one have a bucket of their own."""

    __slots__ = ("_bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    def count_and_sum(self) -> tuple[int, float]:
        """The number of values so far, and their sum."""
        return sum(self.counts), self.sum

    def snapshot(self) -> dict[str, Any]:
        """Cumulative counts by upper end, in the form of Prometheus."""
        counts = list(accumulate(self.counts))
        return {
            "count": counts[-1],
            "sum": self.sum,
            "buckets": [[bound, count] for bound, count in zip(self._bounds, counts, strict=False)],
        }


class Peak:
    """The highest value of the last one to two minutes."""

    __slots__ = ("_before", "_now", "_since")

    def __init__(self) -> None:
        self._since, self._now, self._before = 0.0, 0, 0

    def observe(self, value: int, now: float) -> None:
        if now - self._since > WINDOW_SECONDS:
            self._roll(now)
        if value > self._now:
            self._now = value

    def value(self, now: float) -> int:
        if now - self._since > WINDOW_SECONDS:
            self._roll(now)
        return max(self._now, self._before)

    def _roll(self, now: float) -> None:
        self._before = self._now if now - self._since <= 2 * WINDOW_SECONDS else 0
        self._since, self._now = now, 0


class Overhead(Struct):
    """The cost of answering one session: number of calls, total seconds, and time of the last call."""

    calls: int = 0
    seconds: float = 0.0
    last: float = 0.0


class Stats:
    """The daemon's counters, changed only on its loop, so that none needs a lock."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.not_recorded = 0
        self.subscriber_failures = 0
        self.batch_size = Histogram(SIZES)
        self.append_seconds = Histogram(SECONDS)
        self.hook_seconds = Histogram(SECONDS)
        self.queue = Peak()
        self.lag = Lag()
        self.sessions: dict[str, Overhead] = {}

    def count_batch(self, inputs: int, waiting: int, began: float, events: Sequence[FeedEvent]) -> None:
        """Count a recorded batch. `began`: when its writing began; `waiting`: how many inputs it left in the queue."""
        now = perf_counter()
        self.batch_size.observe(inputs)
        self.append_seconds.observe(now - began)
        self.events.update([event.kind for event in events])
        self.lag.busy = True
        self.queue.observe(inputs + waiting, now)

    def count_answer(self, session_id: str, received: float) -> None:
        """Count an answer that needed no decision. `received`: when its payload was complete."""
        now = perf_counter()
        seconds = now - received
        self.hook_seconds.observe(seconds)
        overhead = self.sessions.get(session_id)
        if overhead is None:
            overhead = self._first(session_id)
        overhead.calls += 1
        overhead.seconds += seconds
        overhead.last = now

    def _first(self, session_id: str) -> Overhead:
        """Add a session. Where there are too many, the one with the oldest call is forgotten."""
        if len(self.sessions) >= MAX_SESSIONS:
            del self.sessions[min(self.sessions, key=lambda s: self.sessions[s].last)]
        self.sessions[session_id] = Overhead()
        return self.sessions[session_id]

    def hook_overhead(self) -> list[dict[str, Any]]:
        """Each session's cost, the most expensive first."""
        dearest = sorted(self.sessions.items(), key=lambda one: (-one[1].seconds, one[0]))
        return [
            {"session_id": s, "calls": o.calls, "seconds": o.seconds, "mean_seconds": o.seconds / o.calls}
            for s, o in dearest
        ]


class Lag:
    """How late the loop runs due work: sampled every BUSY_SECONDS while there is work, else every IDLE_SECONDS."""

    def __init__(self) -> None:
        self.busy = False
        self.histogram = Histogram(SECONDS)
        self._samples: deque[tuple[float, float]] = deque(maxlen=LAG_SAMPLES)
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._next()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _next(self) -> None:
        seconds = BUSY_SECONDS if self.busy else IDLE_SECONDS
        self.busy = False
        self._due = perf_counter() + seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._sample)

    def _sample(self) -> None:
        now = perf_counter()
        self.add(now - self._due, now)
        self._next()

    def add(self, seconds: float, now: float) -> None:
        """Add one late sample. Samples that a long stall kept from being taken count too, each with its own lateness:
        otherwise the longest stalls would weigh least."""
        for _ in range(MAX_MISSED):
            seconds = max(0.0, seconds)
            self.histogram.observe(seconds)
            self._samples.append((now, seconds))
            seconds -= BUSY_SECONDS
            if seconds <= 0:
                return

    def snapshot(self, now: float) -> dict[str, Any]:
        """The last minute, and the histogram since the start."""
        recent = sorted(lag for at, lag in self._samples if now - at <= WINDOW_SECONDS)
        return {
            "window_seconds": WINDOW_SECONDS,
            "samples": len(recent),
            "p50": percentile(recent, 50),
            "p99": percentile(recent, 99),
            "max": recent[-1] if recent else None,
            **self.histogram.snapshot(),
        }


def percentile(ordered: Sequence[float], part: float) -> float | None:
    """The smallest value that this many percent of all do not exceed."""
    if not ordered:
        return None
    return ordered[max(0, -int(-len(ordered) * part // 100) - 1)]
