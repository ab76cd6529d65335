"""Counts over time: each series of a year on a million events, and what counting costs the writer."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import Figure, main, percentile
from benchmarks.store import writing
from quarterdeck.core.model.decisions import Source
from quarterdeck.core.model.event_data.base import Data
from quarterdeck.core.model.event_data.request_data import DecisionData, PermissionRequestData
from quarterdeck.core.model.event_data.session_data import MessageUsage, SessionUsageData, UserPromptData
from quarterdeck.core.model.event_data.tool_data import ToolFailureData, ToolPostData, ToolPreData
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.runtime_event import Context
from quarterdeck.daemon.maintenance.service import CALMNESS_OF_COUNTS
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.counts.series_reader import read_series
from quarterdeck.store.log import Entry, Log
from quarterdeck.views.counts.metrics import METRICS
from quarterdeck.views.counts.series import SeriesQuery

EVENTS = int(os.environ.get("QD_BENCH_EVENTS", "1000000"))
YEAR = 365 * 86400.0
END = 1_791_028_800.0
PROJECTS, EVENTS_OF_SESSION, CHUNK, ROUNDS = 20, 2_000, 5_000, 5
TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "Task", "TodoWrite", "mcp__issues__search")
MODELS = ("claude-opus-5-5", "claude-sonnet-5", "claude-haiku-5")


def year_of_events(count: int, end: float = END) -> Iterator[FeedEvent]:
    """Sessions in several projects, one after the other, over a year."""
    draw, step = random.Random(1), YEAR / count
    for n in range(count):
        session, place = divmod(n, EVENTS_OF_SESSION)
        session_id, run = f"session-{session}", place // 50 + 1
        kind, data = _event(draw, f"{session_id}-{place // 10}", place % 10)
        yield FeedEvent(
            seq_no=n + 1,
            event_id=f"{session_id}:R{run}:E{place % 50}",
            seq=place % 50,
            run_id=f"{session_id}:R{run}",
            session_id=session_id,
            runner_id="bench",
            at=end - YEAR + n * step,
            kind=kind,
            level="info",
            actor_id="agent:root",
            data=data,
            context=Context(cwd=f"/work/project-{session % PROJECTS}") if place == 0 else None,
        )


def _event(draw: random.Random, name: str, place: int) -> tuple[str, Data]:
    tool: dict[str, Any] = {
        "tool_name": draw.choice(TOOLS),
        "tool_kind": "shell",
        "tool_input": {"command": f"make {name}"},
    }
    match place:
        case 0:
            return "user.prompt", UserPromptData(prompt=f"go on with {name}")
        case 1 | 4:
            return "tool.pre", ToolPreData(**tool)
        case 2 | 5 | 6:
            return "tool.post", ToolPostData(**tool, tool_response={"stdout": "done " * 20})
        case 3:
            return "tool.failure", ToolFailureData(**tool, error="failed")
        case 7:
            request: dict[str, Any] = {"request_id": name, "digest": "d", "hook_name": "h", "held": True}
            return "permission.request", PermissionRequestData(**request, **tool)
        case 8:
            by_rule = draw.random() < 0.3
            rule: dict[str, Any] = {
                "source": Source.RULE,
                "rule_ids": [f"r{draw.randrange(9)}"],
                "pattern": "Bash(make:*)",
            }
            how = rule if by_rule else {"source": Source.USER}
            decision = draw.choice(("allow", "deny", "no_opinion"))
            return "permission.decision", DecisionData(request_id=name, decision_type=decision, by="ann", **how)
        case _:
            tokens: dict[str, Any] = {"input_tokens": draw.randrange(9_000), "output_tokens": draw.randrange(900)}
            message = MessageUsage(message_id=name, model=draw.choice(MODELS), cost_usd=draw.random(), **tokens)
            return "session.usage", SessionUsageData(offset=1, spent=[message])


def build(path: Path, count: int, end: float = END) -> None:
    """Write the log of a year."""
    log, events = Log.open(path, durability="normal"), year_of_events(count, end)
    while part := [event for _, event in zip(range(CHUNK), events, strict=False)]:
        log.append([Entry(part)])
    log.close()


def counting(path: Path, count: int) -> Figure:
    """Count the log from nothing."""
    started = time.perf_counter()
    counter = EventCounter(path)
    while counter.add():
        pass
    counter.close()
    rate = count / (time.perf_counter() - started)
    return Figure(name="counting events", value=round(rate), unit="events/s", against="", goal="", ok=True)


def series(path: Path, count: int) -> Figure:
    """Every metric by each of its groups, a year by the day; the slowest of them. Time is the thread's own."""
    queries = {
        f"{metric} by {group or 'nothing'}": SeriesQuery(metric=metric, group=group, since=END - YEAR, until=END)
        for metric, row in METRICS.items()
        for group in (None, *row.groups)
    }
    prompts = read_series(path, queries["prompts by nothing"]).series
    assert sum(one.total for one in prompts) == -(-count // 10)
    taken: dict[str, list[float]] = {name: [] for name in queries}
    for name, query in list(queries.items()) * ROUNDS:
        started = time.thread_time()
        read_series(path, query)
        taken[name].append(time.thread_time() - started)
    medians = {name: percentile(values, 50) for name, values in taken.items()}
    slowest = max(medians, key=lambda name: medians[name])
    return Figure(
        name=f"the slowest of {len(queries)} series of a year on {count:,} events",
        value=round(medians[slowest] * 1e3, 1),
        unit="ms",
        against=slowest,
        goal="≤ 50",
        ok=medians[slowest] <= 0.05,
    )


def figures() -> list[Figure]:
    made = writing("counts", EventCounter, 1.05, CALMNESS_OF_COUNTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.db"
        build(path, EVENTS)
        made += [counting(path, EVENTS), series(path, EVENTS)]
    return made


if __name__ == "__main__":
    main(figures)
