"""Restart on a log of a million events: with a snapshot at most 10k events old, and without one."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import Figure, main
from benchmarks.reduce import hooks_received, payloads
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.store.log import Entry, Log

EVENTS = int(os.environ.get("QD_BENCH_EVENTS", "1000000"))
BEHIND = 10_000
CHUNK = 5_000


def build(home: Path, source: Iterator[dict[str, object]]) -> int:
    """Write the log as the daemon would, with the last snapshot BEHIND events before its end."""
    home.mkdir(mode=0o700)
    log = Log.open(home / "events.db", durability="normal")
    state, count, saved = State(runner_id=log.meta("runner_id", "bench")), 0, False
    while state.seq_no < EVENTS:
        entries = []
        for message in hooks_received(CHUNK, source, count):
            result = reduce(state, message)
            state = result.state
            entries.append(Entry(result.events, None, result.requests.values(), result.sessions.values()))
        count += CHUNK
        log.append(entries)
        while log.unindexed:
            log.index_sessions()
        if not saved and state.seq_no > EVENTS - BEHIND:
            log.save_snapshot(state)
            saved = True
    log.close()
    return state.seq_no


def ready_seconds(home: Path) -> tuple[float, list[str]]:
    """Start the daemon; how long until it is ready, and what it said on the way."""
    environ = {**os.environ, "QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0"}
    started = time.perf_counter()
    command = [sys.executable, "-m", "quarterdeck", "daemon"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        printed = []
        while not (line := process.stdout.readline()).startswith("Quarterdeck is ready"):
            printed.append(line.strip())
        seconds = time.perf_counter() - started
        assert json.loads((home / "run" / "daemon.json").read_text())["pid"] == process.pid
        process.kill()
    return seconds, printed


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        events = build(home, payloads())
        empty = Path(folder) / "empty"
        bare, _ = ready_seconds(empty)
        quick, _ = ready_seconds(home)
        db = sqlite3.connect(home / "events.db")
        db.execute("DELETE FROM snapshots")
        db.commit()
        db.close()
        slow, printed = ready_seconds(home)
    where = f"restart on {events:,} events"
    against = f"an empty log: {bare:.2f} s"
    return [
        Figure(
            name=f"{where}, with a snapshot",
            value=round(quick, 2),
            unit="s",
            against=against,
            goal="≤ 3",
            ok=quick <= 3,
        ),
        Figure(
            name=f"{where}, without one",
            value=round(slow, 2),
            unit="s",
            against=against,
            goal="≤ 15, with a progress line",
            ok=slow <= 15 and any("events" in line for line in printed),
        ),
    ]


if __name__ == "__main__":
    main(figures)
