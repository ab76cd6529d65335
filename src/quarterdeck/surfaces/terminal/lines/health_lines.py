"""The daemon's health: findings with their fixes, then numbers; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck import __version__
from quarterdeck.core.text.durations import age_words
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.views.health import MARKS, findings, quantile, size, summary
from quarterdeck.views.versions import RESTART_UI

Json = dict[str, Any]
WIDTH = 22


def health_lines(model: Model, home: str, now: float) -> Iterator[StyledLine]:
    """The connection, the findings, a summary and the numbers."""
    problem = model.connection_problem(now)
    if problem:
        yield line(("✕ ", "blocked"), (problem, "strong"))
    stats = model.stats
    if stats is None:
        yield line(("No numbers yet.", "dim"))
        return
    checks = findings(stats, __version__, RESTART_UI)
    for check in checks:
        style = "warn" if check.ok else "blocked"
        yield line((f"{MARKS[check.level]} ", style), (f"{check.name}: ", "strong"), check.says)
        if check.fix:
            yield line((f"→ {check.fix}", "dim"), indent=4)
    if not checks and not problem:
        yield line(("✓ ", "good"), ("All is well.", "strong"))
    yield StyledLine()
    for words in summary(stats):
        yield line(words)
    yield StyledLine()
    yield from number_lines(stats, home)
    yield StyledLine()
    yield line(("qd doctor also checks the settings, the hooks and the claude program.", "dim"))


def number_lines(stats: Json, home: str) -> Iterator[StyledLine]:
    """One number a line, with its name."""
    store, process, requests = stats["store"], stats["process"], stats["requests"]
    oldest = requests["oldest_held_seconds"]
    numbers = {
        "home": home,
        "version": stats["version"],
        "runner": stats["runner_id"],
        "process": f"{process['pid']} · {size(process['rss_bytes'])} · {process['open_fds'] or '–'} open files",
        "log": f"{store['seq_no']:,} events · {size(store['database_bytes'] + store['wal_bytes'])}",
        "not indexed yet": f"{store['unindexed']:,}",
        "hook answers, p99": _milliseconds(quantile(stats["hook_seconds"], 0.99)),
        "writes, p99": _milliseconds(quantile(stats["append_seconds"], 0.99)),
        "loop late by, p99": _milliseconds(stats["loop_lag_seconds"]["p99"]),
        "requests held": f"{requests['held']}" + (f" · oldest for {age_words(oldest)}" if oldest else ""),
        "surfaces": str(stats["surfaces"]),
        "inputs refused": str(sum(stats["inputs"]["refused"].values())),
    }
    for name, value in numbers.items():
        yield line((f"{name:<{WIDTH}}", "dim"), value)
    for row in stats["hook_overhead"]:
        name = f"hooks of {row['session_id'][:8]}"
        yield line((f"{name:<{WIDTH}}", "dim"), f"{row['calls']:,} calls · {_milliseconds(row['mean_seconds'])} each")


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1000:.1f} ms"
