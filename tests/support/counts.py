"""Counts over time, as they are stored and as a count over all events finds them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.counts.calendar import day_of
from quarterdeck.store.counts.counts_file import counts_path
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.log import Entry, Log
from quarterdeck.views.counts.tally import CountLedger, count_events
from tests.support.scene import Scene

Sums = dict[tuple[str, str, tuple[str, ...]], int]
"""Sums by the metric, the folder and the labels."""


def stored(log: Path) -> Sums:
    """Every sum in the file, by the metric, the folder and the labels; the same for days as for hours."""
    with sqlite3.connect(counts_path(log)) as db:
        made = [
            {
                (metric, path, tuple(json.loads(labels))): amount
                for metric, path, labels, amount in db.execute(
                    f"SELECT metric, path, labels, sum(amount) FROM label_sets JOIN {table} USING(set_id)"
                    " JOIN projects USING(project_id) GROUP BY set_id"
                )
                if amount
            }
            for table in ("hours", "days")
        ]
    assert made[0] == made[1]
    return made[0]


def counted(events: list[FeedEvent]) -> Sums:
    """The same by counting all events at once."""
    found: Sums = {}
    for key, amount in count_events(events, CountLedger(), day_of).hours.items():
        name = (key.metric, key.cwd, key.labels)
        found[name] = found.get(name, 0) + amount
    return {name: amount for name, amount in found.items() if amount}


def count_all(counter: EventCounter) -> None:
    while counter.add():
        pass


def write_day(log: Log, prompts: int, words: str = "prompt") -> Scene:
    scene = Scene()
    scene.receives("SessionStart", source="startup", cwd="/work/shop")
    for n in range(prompts):
        scene.receives("UserPromptSubmit", prompt=f"{words} {n}", cwd="/work/shop")
    log.append([Entry(scene.events)])
    log.save_snapshot(scene.state)
    return scene
