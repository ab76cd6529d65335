"""The whole terminal UI: its first paint, a key until its decision is acknowledged, its longest turn in a flood."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, NamedTuple

from textual.events import Key

from benchmarks.common import Figure, load, percentile, stolen
from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost, read_frame
from quarterdeck.surfaces.tui.app import QuarterdeckApp, relax_garbage_collector
from tests.support.daemon import Daemon, permission
from tests.support.feed import turns
from tests.support.recorded_daemon import RecordedDaemon, connected, session, snapshot

SIZE = (120, 40)
KEYS = int(os.environ.get("QD_BENCH_KEYS", "300"))
FLOOD, FRAME = 60_000, 500
LONG = 120.0
ROUNDS = int(os.environ.get("QD_BENCH_ROUNDS", "9"))

HELLO = """
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self):
        yield Static("Hello, World!")
    def on_ready(self):
        self.call_after_refresh(self.exit)
app = Hello()
"""
APP = """
from pathlib import Path
from quarterdeck.surfaces.tui.app import QuarterdeckApp, relax_garbage_collector
class FirstPaint(QuarterdeckApp):
    def on_ready(self):
        self.call_after_refresh(self.exit)
app = FirstPaint(Path("/nonexistent"))
relax_garbage_collector()
"""
"""Apps that end at their first paint, started as they are started for a person."""


def first_paint(program: str) -> tuple[float, float]:
    """Seconds of CPU and by the clock, from the start of Python to the end of an app that ends at its first paint."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", f"{program}\napp.run(headless=True)"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started


def start_figures() -> list[Figure]:
    """The UI against an app that only says hello, in turn."""
    both = [(first_paint(HELLO), first_paint(APP)) for _ in range(ROUNDS + 1)][1:]
    found = []
    for place, unit in enumerate(("CPU", "wall")):
        hello = percentile((pair[0][place] for pair in both), 50)
        ratio = percentile((pair[1][place] for pair in both), 50) / hello
        against = f"Textual's hello-world, {hello:.2f} s, {load()}"
        found.append(_figure(f"TUI: start to first paint, {unit}", ratio, "×", against, "≤ 2", ratio <= 2))
    return found


class TimedDaemon(DaemonConnection):
    """Notes when each decision leaves for the daemon and when it is acknowledged."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.sent = self.acknowledged = 0.0
        self.is_acknowledged = asyncio.Event()

    async def decide(self, request: dict[str, Any], **body: Any) -> dict[str, Any]:
        self.sent = time.perf_counter()
        made = await super().decide(request, **body)
        self.acknowledged = time.perf_counter()
        self.is_acknowledged.set()
        return made


class Pressed(NamedTuple):
    """Seconds from a key until its decision leaves the UI, and from then until the daemon has acknowledged it; the
    seconds of CPU that the UI needs for both, and whether the machine below kept its processors for others then."""

    ui: float
    wire: float
    work: float
    is_robbed: bool

    @property
    def both(self) -> float:
        return self.ui + self.wire


async def decided_by_key(daemon: Daemon, count: int) -> list[Pressed]:
    """A request on the desk, a key, the daemon's word; again and again."""
    talk = TimedDaemon(daemon.home)
    app = QuarterdeckApp(daemon.home, daemon=talk)
    keys: list[Pressed] = []
    relax_garbage_collector()
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(1.0)
        for number in range(count):
            held = daemon.hold(permission(f"echo {number}"))
            app.main_screen.desk.focus()
            while app.main_screen.desk.blocked_reason():
                await asyncio.sleep(0.005)
            talk.is_acknowledged.clear()
            robbed, pressed, worked = stolen(), time.perf_counter(), time.thread_time()
            app.post_message(Key("a", "a"))
            await talk.is_acknowledged.wait()
            took = time.thread_time() - worked
            keys.append(Pressed(talk.sent - pressed, talk.acknowledged - talk.sent, took, stolen() > robbed))
            held.close()
    return keys


def key_figures() -> list[Figure]:
    """A key, over the UI and the wire, until the daemon has acknowledged what it decides. Where the machine below
    takes the processors away in the middle, that is what would be measured; such keys are told apart."""
    with tempfile.TemporaryDirectory() as folder, Daemon(Path(folder) / "home") as daemon:
        every = asyncio.run(decided_by_key(daemon, KEYS))
    keys = [key for key in every if not key.is_robbed]
    if len(keys) < KEYS / 3:
        keys = every  # what is left would say nothing
    ui, wire, both = ([getattr(key, name) for key in keys] for name in ("ui", "wire", "both"))
    parts = f"UI p50 {_ms(ui, 50)}, p99 {_ms(ui, 99)}; daemon p50 {_ms(wire, 50)}, p99 {_ms(wire, 99)}"
    with_all = f"p99 of all {len(every)} {_ms([key.both for key in every], 99)}"
    p99 = percentile(both, 99) * 1000
    return [
        _figure("TUI: key to acknowledged decision, p50", percentile(both, 50) * 1000, "ms", "", "", True),
        _figure(
            "TUI: key to acknowledged decision, p99",
            p99,
            "ms",
            f"{len(keys)} keys with whole processors, {parts}; {with_all}, {load()}",
            "≤ 50",
            p99 <= 50,
        ),
        _figure(
            "TUI: its own CPU for that, p99", percentile([key.work for key in keys], 99) * 1000, "ms", "", "", True
        ),
    ]


def _ms(seconds: list[float], percent: float) -> str:
    return f"{percentile(seconds, percent) * 1000:.0f}"


class Turn(NamedTuple):
    """Seconds that the loop was kept: at work, and by the clock, which also counts what blocked it and what the machine
    did meanwhile."""

    work: float
    wall: float


def longest_of(taken: list[Turn]) -> Turn:
    """The longest of each."""
    return Turn(max(turn.work for turn in taken), max(turn.wall for turn in taken))


def turn_figures(name: str, longest: Turn, about: str = "") -> list[Figure]:
    """The work has a goal; the clock is told beside it."""
    work, wall = longest.work * 1000, longest.wall * 1000
    by_clock = f"what blocks included, {load()}"
    return [
        _figure(f"{name}, CPU", work, "ms", about, "≤ 50", work <= 50),
        _figure(f"{name}, wall", wall, "ms", by_clock, "", True),
    ]


class Flood(LiveClient):
    """Says a snapshot, and then frames of events as fast as they are taken."""

    def __init__(self, frames: list[bytes]) -> None:
        super().__init__(lambda: ("", ""), client="tui", topics=[])
        self._frames = frames
        self.begins = asyncio.Event()
        self.is_over = False

    async def follow(self) -> AsyncGenerator[Connected | Lost | LiveMessage]:
        yield connected()
        yield snapshot(sessions=[session(f"s{n}", "running") for n in range(20)])
        await self.begins.wait()
        for frame in self._frames:
            for message in read_frame(frame):
                decoded = self._read(message)
                if decoded is not None:
                    yield decoded
            await asyncio.sleep(0)
        self.is_over = True
        await asyncio.Event().wait()


async def flooded() -> tuple[float, list[Turn]]:
    """Seconds of CPU to take and show a flood of events, and each turn of the loop meanwhile."""
    events: list[dict[str, Any]] = [{"type": "event", "event": event} for event in turns(FLOOD)]
    frames = [json.dumps(events[at : at + FRAME]).encode() for at in range(0, len(events), FRAME)]
    last = events[-1]["event"]["seq_no"]
    del events
    talk = RecordedDaemon([], {"/sessions": {"sessions": [], "next": None}})
    flood = talk.live = Flood(frames)
    app = QuarterdeckApp(Path("/nonexistent"), daemon=talk)
    relax_garbage_collector()
    taken: list[Turn] = []
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(0.5)
        flood.begins.set()
        started = time.process_time()
        async with asyncio.timeout(LONG):
            while not flood.is_over or app.main_screen.feed.rows.last < last:
                worked, before = time.thread_time(), time.perf_counter()
                await asyncio.sleep(0)  # until the next turn, and no longer
                taken.append(Turn(time.thread_time() - worked, time.perf_counter() - before))
        seconds = time.process_time() - started
    gc.unfreeze()
    return seconds, taken


def flood_figures() -> list[Figure]:
    """The whole UI while far more comes than anybody reads."""
    seconds, taken = asyncio.run(flooded())
    about = f"{FLOOD:,} events, p99 {percentile([turn.work for turn in taken], 99) * 1000:.0f} ms, {load()}"
    return [
        _figure("TUI: events taken and shown a second of CPU", round(FLOOD / seconds), "", "", "", True),
        *turn_figures("TUI: longest turn of the loop in a flood", longest_of(taken), about),
    ]


def figures() -> list[Figure]:
    return [*start_figures(), *key_figures(), *flood_figures()]


def _figure(name: str, value: float, unit: str, against: str, goal: str, ok: bool) -> Figure:
    return Figure(name=name, value=round(value, 2), unit=unit, against=against, goal=goal, ok=ok)
