"""What sessions did and used, added up; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

Json = dict[str, Any]
KINDS = ("input", "output", "cache_read", "cache_write")


class Spent(Struct, frozen=True, kw_only=True):
    """A sum. A cost is None where no price is known of any."""

    tools: int = 0
    failures: int = 0
    tokens: int = 0
    cost: float | None = None

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        costs = [one.cost for one in (self, other) if one.cost is not None]
        return Spent(
            tools=self.tools + other.tools,
            failures=self.failures + other.failures,
            tokens=self.tokens + other.tokens,
            cost=sum(costs) if costs else None,
        )


def spent_by(sessions: Iterable[Json]) -> Spent:
    """The sum over some sessions."""
    found = list(sessions)
    usage = [one["usage"] for one in found if one["usage"]]
    costs = [one["cost_usd"] for one in usage if one["cost_usd"] is not None]
    return Spent(
        tools=sum(one["counters"]["tool_uses"] for one in found),
        failures=sum(one["counters"]["tool_failures"] for one in found),
        tokens=sum(one[f"{kind}_tokens"] for one in usage for kind in KINDS),
        cost=sum(costs) if costs else None,
    )
