"""How the daemon does: what is wrong and how to mend it, then its figures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from textual.app import ComposeResult

from quarterdeck import __version__
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.health import findings, quantile, size, summary
from quarterdeck.surfaces.text.labels import lasting
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.widgets.text_view import Wall

Json = dict[str, Any]
WIDTH = 22


def health_lines(model: Model, home: str, now: float) -> Iterator[Line]:
    """Findings first, then figures."""
    trouble = model.trouble(now)
    if trouble:
        yield line(("✕ ", "blocked"), (trouble, "strong"))
    stats = model.stats
    if stats is None:
        yield line(("No figures yet.", "dim"))
        return
    found = findings(stats, __version__)
    for check in found:
        mark, style = ("· ", "warn") if check.ok else ("✕ ", "blocked")
        yield line((mark, style), (f"{check.name}: ", "strong"), check.says)
        if check.fix:
            yield line((f"→ {check.fix}", "dim"), indent=4)
    if not found and not trouble:
        yield line(("✓ ", "good"), ("All is well.", "strong"))
    yield Line()
    for words in summary(stats):
        yield line(words)
    yield Line()
    yield from figure_lines(stats, home)
    yield Line()
    yield line(("qd doctor also looks at the settings, the hooks and the claude program.", "dim"))


def figure_lines(stats: Json, home: str) -> Iterator[Line]:
    """Name and value, one a line."""
    store, process, requests = stats["store"], stats["process"], stats["requests"]
    oldest = requests["oldest_held_seconds"]
    figures = {
        "home": home,
        "version": stats["version"],
        "runner": stats["runner_id"],
        "process": f"{process['pid']} · {size(process['rss_bytes'])} · {process['open_fds'] or '–'} open files",
        "log": f"{store['seq_no']:,} events · {size(store['database_bytes'] + store['wal_bytes'])}",
        "not indexed yet": f"{store['unindexed']:,}",
        "hook answers, p99": _ms(quantile(stats["hook_seconds"], 0.99)),
        "writes, p99": _ms(quantile(stats["append_seconds"], 0.99)),
        "loop late by, p99": _ms(stats["loop_lag_seconds"]["p99"]),
        "requests held": f"{requests['held']}" + (f" · the oldest for {lasting(oldest)}" if oldest else ""),
        "surfaces": str(stats["surfaces"]),
        "inputs refused": str(sum(stats["inputs"]["refused"].values())),
    }
    for name, value in figures.items():
        yield line((f"{name:<{WIDTH}}", "dim"), value)
    for one in stats["hook_overhead"]:
        name = f"hooks of {one['session_id'][:8]}"
        yield line((f"{name:<{WIDTH}}", "dim"), f"{one['calls']:,} calls · {_ms(one['mean_seconds'])} each")


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1000:.1f} ms"


class HealthPage(PageScreen):
    """Read again as the figures come."""

    heading = "Health"

    def inside(self) -> ComposeResult:
        yield Wall(classes="page", id="health")

    def on_mount(self) -> None:
        self.query_one(Wall).focus()
        self.set_interval(1.0, self.action_reload)
        self.call_after_refresh(self.action_reload)

    def action_reload(self) -> None:
        lines = health_lines(self.face.model, str(self.face.talk.home), time.monotonic())
        for wall in self.query(Wall).filter("#health"):  # it may be gone when this comes late
            wall.show(lines)
