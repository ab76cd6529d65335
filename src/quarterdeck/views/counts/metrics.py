"""What is counted over time: each metric with its unit and the groups it can be split into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Unit = Literal["count", "seconds", "tokens", "usd"]
MetricName = Literal[
    "sessions",
    "prompts",
    "tools",
    "requests",
    "wait_seconds",
    "rule_hits",
    "tokens",
    "cost_usd",
    "unpriced_messages",
    "hook_calls",
    "hook_seconds",
]
PROJECT = "project"

WHERE = (PROJECT, "agent")
"""The groups of everything that happens in a session."""
OF_REQUESTS = ("kind", "outcome", "source", "wait", *WHERE)
OF_MODELS = ("model", *WHERE)


class Metric(Struct, frozen=True, kw_only=True):
    """One thing that is counted. Amounts are whole numbers of `1 / scale`, so that sums are exact."""

    title: str
    unit: Unit = "count"
    groups: tuple[str, ...] = WHERE
    scale: int = 1


METRICS: Mapping[MetricName, Metric] = {
    "sessions": Metric(title="New sessions"),
    "prompts": Metric(title="Prompts"),
    "tools": Metric(title="Tool calls", groups=("tool", "outcome", *WHERE)),
    "requests": Metric(title="Requests", groups=OF_REQUESTS),
    "wait_seconds": Metric(title="Time that requests waited", unit="seconds", groups=OF_REQUESTS, scale=1_000),
    "rule_hits": Metric(title="Decisions by rules", groups=("rule", "pattern", *WHERE)),
    "tokens": Metric(title="Tokens", unit="tokens", groups=("type", *OF_MODELS)),
    "cost_usd": Metric(title="Cost", unit="usd", groups=OF_MODELS, scale=1_000_000_000),
    "unpriced_messages": Metric(title="Messages without a known price", groups=OF_MODELS),
    "hook_calls": Metric(title="Hook calls", groups=()),
    "hook_seconds": Metric(title="Time that hook calls took", unit="seconds", groups=(), scale=1_000_000),
}
"""The metrics of `GET /stats/series`, by name. `rule` is a rule's id, `type` the type of tokens. Hook calls are counted
by the daemon as it answers them: the log has no events for them."""

WAITS: Mapping[str, float] = {"up to 10 s": 10.0, "up to 1 min": 60.0, "up to 10 min": 600.0, "up to 1 h": 3600.0}
"""How long a request waited, by the longest time of each group."""
LONGEST_WAIT = "over 1 h"


def wait_group(seconds: float) -> str:
    """The group of a request that waited this long."""
    return next((name for name, most in WAITS.items() if seconds <= most), LONGEST_WAIT)
