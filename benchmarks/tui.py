"""The feed of the terminal face: rows taken per second, a frame with 1M rows, memory a row, and the first paint."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from benchmarks.common import Figure, interleave, main, percentile
from quarterdeck.surfaces.tui.feed.rows import Rows
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import Log, turns

APPENDED = 200_000
FEW, MANY = 1_000, 1_000_000
SIZE = (120, 40)
FRAMES = 200
STARTS = int(os.environ.get("QD_BENCH_ROUNDS", "7"))


class Feed(App[None]):
    """The feed and nothing else."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.view = FeedView(FeedSource(log.get))

    def compose(self) -> ComposeResult:
        yield self.view


class Empty(ScrollView):
    """Nothing, as large as the screen, and as long as a feed."""

    def on_mount(self) -> None:
        self.virtual_size = Size(SIZE[0], MANY)

    def render_line(self, y: int) -> Strip:
        return Strip.blank(self.size.width, self.rich_style)


class Blank(App[None]):
    """The empty screen that a frame is compared with."""

    def compose(self) -> ComposeResult:
        yield Empty()


class Hello(App[None]):
    """Textual's hello-world."""

    def compose(self) -> ComposeResult:
        yield Static("Hello, World!")


async def appended() -> tuple[float, float]:
    """Seconds to take and draw the events in a live view, and to decode the JSON they come as."""
    events = list(turns(APPENDED))
    sample = [json.dumps(event) for event in events[:20_000]]
    started = time.perf_counter()
    for text in sample:
        json.loads(text)
    decoded = (time.perf_counter() - started) / len(sample) * len(events)
    gc.collect()
    gc.freeze()
    app = Feed(Log([]))
    async with app.run_test(size=SIZE) as pilot:
        app.view.follow(None)
        await pilot.pause()
        started = time.perf_counter()
        for first in range(0, len(events), 500):
            app.view.append(events[first : first + 500])
        while app.view.rows.last < events[-1]["seq_no"]:
            await asyncio.sleep(0.001)
        await pilot.pause()
        taken = time.perf_counter() - started
    gc.unfreeze()
    return taken, decoded


def paint(app: App[None]) -> None:
    """What Textual does to bring a whole screen to a terminal, up to the bytes it writes."""
    app.screen._compositor.render_full_update().render_segments(app.console)


async def framed(rounds: int) -> dict[str, list[float]]:
    """Seconds of a frame after a scroll of one page, with few and with many rows, and of an empty screen's, in turn."""
    apps: dict[str, App[None]] = {"blank": Blank(), "few": Feed(Log([])), "many": Feed(Log([]))}
    counts = {"few": FEW, "many": MANY}
    taken: dict[str, list[float]] = {name: [] for name in apps}
    for name, app in apps.items():
        async with app.run_test(size=SIZE) as pilot:
            if isinstance(app, Feed):
                app.view.rows.append(turns(counts[name]))
                app.view.following = False
                app.view._resized()
            await pilot.pause()
            gc.collect()
            for n in range(rounds):
                if isinstance(app, Feed):
                    height = app.view.rows.height
                    app.view.scroll_to(y=height * (n + 1) // (rounds + 2) + n, animate=False, force=True)
                else:
                    app.screen.refresh()
                started = time.perf_counter()
                paint(app)
                taken[name].append(time.perf_counter() - started)
    return taken


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def remembered(count: int = MANY) -> float:
    """Bytes a row, of a process that holds so many."""
    rows = Rows()
    rows.append(turns(SIZE[0]))
    gc.collect()
    before = resident()
    rows.append(turns(count))
    gc.collect()
    return (resident() - before) / count


def started(kind: str) -> float:
    """Seconds from the start of Python to the first paint that shows something."""
    command = [sys.executable, "-c", f"from benchmarks.tui import first_paint; first_paint({kind!r})"]
    begun = time.time()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1]) - begun


HELLO = """
import time
from textual.app import App
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("Hello, World!")
    def on_ready(self):
        self.call_after_refresh(self.exit, None)
Hello().run(headless=True)
print(time.time())
"""

FEED = """
import time
from textual.app import App
from quarterdeck.surfaces.tui.feed.source import FeedSource
from quarterdeck.surfaces.tui.feed.view import FeedView
class Feed(App):
    def compose(self):
        yield FeedView(FeedSource(lambda path, **query: page))
    def on_ready(self):
        self.query_one(FeedView).follow(None)
    async def on_feed_view_placed(self):
        self.call_after_refresh(self.exit, None)
from json import load
page = load(open({path!r}))
Feed().run(headless=True)
print(time.time())
"""


def figures() -> list[Figure]:
    return []


if __name__ == "__main__":
    main(figures)
