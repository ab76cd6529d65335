"""Sums over sessions: tool calls, tokens, cost; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

Json = dict[str, Any]
KINDS = ("input", "output", "cache_read", "cache_write")


class UsageTotal(Struct, frozen=True, kw_only=True):
    """Tool calls, failures, tokens and cost of some sessions. `cost` is None where no price is known at all."""

    tools: int = 0
    failures: int = 0
    tokens: int = 0
    cost: float | None = None

    def plus(self, other: UsageTotal) -> UsageTotal:
        """The totals of both together. An unknown cost does not hide the other's."""
        return UsageTotal(
            tools=self.tools + other.tools,
            failures=self.failures + other.failures,
            tokens=self.tokens + other.tokens,
            cost=_known_sum([self.cost, other.cost]),
        )


def total_usage(sessions: Iterable[Json]) -> UsageTotal:
    """The sum over these sessions."""
    summed = list(sessions)
    usages = [session["usage"] for session in summed if session["usage"]]
    return UsageTotal(
        tools=sum(session["counters"]["tool_uses"] for session in summed),
        failures=sum(session["counters"]["tool_failures"] for session in summed),
        tokens=sum(usage[f"{kind}_tokens"] for usage in usages for kind in KINDS),
        cost=_known_sum(usage["cost_usd"] for usage in usages),
    )


def _known_sum(costs: Iterable[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None
