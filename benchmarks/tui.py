"""The terminal UI: rows taken a second, a frame with 1M rows, memory a row, the first paint; and the whole of it."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.screen import Screen

from benchmarks import tui_app
from benchmarks.common import Figure, main, percentile
from benchmarks.tui_app import HELLO, LONG, ROUNDS, SIZE, Turn, first_paint, longest_of, turn_figures
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import FeedLog, turns

APPENDED = 200_000
FEW, MANY = 1_000, 1_000_000
FRAMES = 200

FEED = """
import json
from textual.app import App
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
def get(path, **query):
    return json.loads(open({path!r}, "rb").read())
class Feed(App):
    def compose(self):
        yield FeedView(FeedSource(get))
    def on_ready(self):
        self.view = self.query_one(FeedView)
        self.view.follow(None)
        self.set_interval(0.001, self.look)
    def look(self):
        if self.view.rows.last:
            self.call_after_refresh(self.exit)
app = Feed()
"""
"""An app that ends at its first paint with something in it."""


class Painted(App[None]):
    """Knows when a frame is ready, to the bytes that a terminal would get."""

    def __init__(self) -> None:
        super().__init__()
        self.frame = asyncio.Event()

    def _display(self, screen: Screen[object], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)
        super()._display(screen, renderable)
        self.frame.set()


class Feed(Painted):
    """The feed and nothing else."""

    def __init__(self, log: FeedLog) -> None:
        super().__init__()
        self.view = FeedView(FeedSource(log.get))

    def compose(self) -> ComposeResult:
        yield self.view


WAIT_SECONDS = 0.001


async def watch(turns_of_others: list[Turn]) -> None:
    """Note how long other tasks keep the loop between two turns of this one."""
    while True:
        worked, started = time.thread_time(), time.perf_counter()
        await asyncio.sleep(WAIT_SECONDS)
        wall = time.perf_counter() - started - WAIT_SECONDS
        turns_of_others.append(Turn(time.thread_time() - worked, wall))


async def appended() -> tuple[float, float, Turn]:
    """Seconds of CPU to take and draw the events in a live view, and to decode the JSON they come as; and the longest
    that anything kept the loop."""
    events = list(turns(APPENDED))
    sample = [json.dumps(event) for event in events[:20_000]]
    started = time.process_time()
    for text in sample:
        json.loads(text)
    decoded = (time.process_time() - started) / len(sample) * len(events)
    gc.collect()
    gc.freeze()
    app = Feed(FeedLog([]))
    async with app.run_test(size=SIZE) as pilot:
        app.view.follow(None)
        await pilot.pause(0.5)
        turns_of_others: list[Turn] = []
        watching = asyncio.create_task(watch(turns_of_others))
        started = time.process_time()
        for first in range(0, len(events), 500):
            app.view.append(events[first : first + 500])
        async with asyncio.timeout(LONG):
            while app.view.rows.last < events[-1]["seq_no"]:
                await asyncio.sleep(0.01)
        await pilot.pause()
        taken = time.process_time() - started
        watching.cancel()
    gc.unfreeze()
    return taken, decoded, longest_of(turns_of_others)


async def framed(rows: int | None) -> list[float]:
    """Seconds of CPU of each frame, from the request to the bytes, after a jump among this many rows to where
    nothing is drawn yet; None is an empty screen that is drawn again."""
    app = Painted() if rows is None else Feed(FeedLog([]))
    taken = []
    async with app.run_test(size=SIZE) as pilot:
        if isinstance(app, Feed):
            app.view.rows.append(turns(rows or 0))
            app.view.following = False
            app.view._update_size()
        await pilot.pause()
        gc.collect()
        gc.freeze()
        for n in range(FRAMES):
            await asyncio.sleep(0.02)
            app.frame.clear()
            started = time.process_time()
            if isinstance(app, Feed):
                app.view._strips.clear()
                app.view.scroll_to(y=app.view.max_scroll_y * (n + 1) // (FRAMES + 2), animate=False, force=True)
            else:
                app.screen.refresh()
            await asyncio.wait_for(app.frame.wait(), 10)
            taken.append(time.process_time() - started)
        gc.unfreeze()
    return taken


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def remembered() -> float:
    """Bytes a row, of a process that holds many."""
    rows = FeedRows()
    rows.append(turns(FEW))
    gc.collect()
    before = resident()
    rows.append(turns(MANY))
    gc.collect()
    return (resident() - before) / MANY


def started() -> tuple[list[float], list[float]]:
    """Seconds of CPU of hello-world and of the feed, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.json"
        page.write_text(json.dumps({"events": list(turns(300)), "next": None}))
        programs = (HELLO, FEED.format(path=str(page)))
        both = [[first_paint(program)[0] for program in programs] for _ in range(ROUNDS + 1)][1:]
    return [hello for hello, _ in both], [feed for _, feed in both]


def figures() -> list[Figure]:
    memory = remembered()
    taken, decoded, longest = asyncio.run(appended())
    blank, few, many = (percentile(asyncio.run(framed(rows)), 50) * 1000 for rows in (None, FEW, MANY))
    hello, feed = (percentile(seconds, 50) for seconds in started())
    rate, flat, frame, start = APPENDED / taken, many / few, many / blank, feed / hello
    blank_screen, world = f"an empty screen's, {blank:.1f} ms", f"Textual's hello-world, {hello:.2f} s"
    return [
        _figure("feed: rows taken and drawn a second of CPU", round(rate), "", "", "≥ 40000", rate >= 40_000),
        _figure("feed: taking a row", taken / decoded, "×", "decoding its JSON", "", True),
        *turn_figures("feed: longest turn of the loop meanwhile", longest),
        _figure("feed: a frame from 1k to 1M rows", flat, "×", f"itself at 1k, {few:.1f} ms", "≤ 1.3", flat <= 1.3),
        _figure("feed: a frame with 1M rows, all of it new", frame, "×", blank_screen, "≤ 2.5", frame <= 2.5),
        _figure("feed: memory a row", memory, "B", f"{MANY:,} rows", "≤ 200", memory <= 200),
        _figure("feed: start to first paint, CPU", start, "×", world, "≤ 2", start <= 2),
        *tui_app.figures(),
    ]


def _figure(name: str, value: float, unit: str, against: str, goal: str, ok: bool) -> Figure:
    return Figure(name=name, value=round(value, 2), unit=unit, against=against, goal=goal, ok=ok)


if __name__ == "__main__":
    main(figures)
