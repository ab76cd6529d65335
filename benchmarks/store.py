"""Reading and searching a log of a million events, what search costs the writer, and what memory it takes."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.common import Figure, interleave, main, percentile
from benchmarks.reduce import SESSIONS, hooks_received, payloads
from benchmarks.restart import build
from quarterdeck.core.model.state import State
from quarterdeck.core.reduce import reduce
from quarterdeck.daemon.maintenance.log_follower import FollowingFile, LogFollower
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.store.search_index import SearchIndex

NEEDLE = "periscope"
EVERY = 20_000
ROUNDS = 9
BATCH, BATCHES, FLOOD = 64, 60, 300
PER_SECOND = 2_000
NEWEST = 2**53
HOUR = int(os.environ.get("QD_BENCH_HOUR", "360000"))
CONNECTIONS = 16


def differing_payloads() -> Iterator[dict[str, object]]:
    """The usual mix with differing words, and now and then one that is looked for."""
    draw = random.Random(1)
    words = [f"{draw.choice(['test', 'auth', 'view', 'load', 'sync'])}{n}" for n in range(5_000)]
    for n, payload in enumerate(payloads()):
        text = " ".join(draw.choices(words, k=12)) + (f" {NEEDLE}" if n % EVERY == 0 else "")
        if "prompt" in payload:
            payload = {**payload, "prompt": text}
        elif "tool_response" in payload:
            payload = {**payload, "tool_response": {"stdout": text}}
        elif "tool_input" in payload:
            payload = {**payload, "tool_input": {"command": f"pytest {text}"}}
        yield payload


def reading(path: Path) -> list[Figure]:
    """The last 200 of a session against the bare SQL; the newest 50 of a search against LIKE."""
    reader, db = Reader(path), sqlite3.connect(path)
    latest = FeedQuery(session_id="session-7", before=NEWEST, limit=200)
    search = FeedQuery(search=NEEDLE, before=NEWEST, limit=50)
    bare = (
        "SELECT seq_no, body FROM by_session JOIN events USING(seq_no)"
        " WHERE by_session.session_id='session-7' ORDER BY seq_no DESC LIMIT 200"
    )
    like = f"SELECT seq_no, body FROM events WHERE body LIKE '%{NEEDLE}%' ORDER BY seq_no DESC LIMIT 50"
    found = {e.seq_no for e in reader.feed(search).events}
    assert found == {row[0] for row in db.execute(like)}
    assert len(reader.feed(latest).events) == 200
    pages = interleave(
        {
            "page": lambda: _read(reader, latest),
            "bare": lambda: _rows(db, bare),
            "search": lambda: _read(reader, search),
        },
        200,
    )
    scans = interleave({"like": lambda: _rows(db, like)}, ROUNDS)
    reader.close()
    db.close()
    page, plain, searched = (percentile(pages[name], 50) for name in ("page", "bare", "search"))
    scanned = percentile(scans["like"], 50)
    return [
        Figure(
            name="the last 200 of a session",
            value=round(page / plain, 2),
            unit="×",
            against=f"bare SQL: {plain * 1e3:.2f} ms",
            goal="≤ 3",
            ok=page / plain <= 3,
        ),
        Figure(
            name=f"search, the newest 50 ({len(found)} found)",
            value=round(scanned / searched),
            unit="× faster",
            against=f"LIKE: {scanned * 1e3:.0f} ms; search: {searched * 1e3:.2f} ms",
            goal="≥ 100",
            ok=scanned / searched >= 100,
        ),
    ]


def _read(reader: Reader, query: FeedQuery) -> None:
    reader.feed(query)


def _rows(db: sqlite3.Connection, sql: str) -> None:
    db.execute(sql).fetchall()


def indexing(path: Path, events: int) -> Figure:
    """Make the index of words from nothing."""
    started = time.perf_counter()
    index = SearchIndex(path)
    while index.add():
        pass
    index.close()
    rate = events / (time.perf_counter() - started)
    return Figure(name="indexing words", value=round(rate), unit="events/s", against="", goal="", ok=True)


def _entries(count: int) -> list[Entry]:
    state, made = State(runner_id="bench"), []
    for message in hooks_received(count, differing_payloads(), 0):
        result = reduce(state, message)
        state = result.state
        made.append(Entry(result.events, message.event.payload, result.requests.values(), result.sessions.values()))
    return made


OpenFile = Callable[[Path], FollowingFile]


def _write(entries: list[Entry], per_second: float, open_file: OpenFile, follows: bool, calmness: float) -> list[float]:
    """Seconds of each commit, at this pace; 0 is as fast as it goes."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        log = Log.open(Path(folder) / "events.db")
        following = LogFollower(
            "file", lambda: open_file(log.path), lambda: log.seq_no if follows else 0, calmness=calmness
        )
        following.start()
        due = time.perf_counter()
        for first in range(0, len(entries), BATCH):
            due += BATCH / per_second if per_second else 0
            started = time.perf_counter()
            log.append(entries[first : first + BATCH])
            taken.append(time.perf_counter() - started)
            time.sleep(max(0.0, due - time.perf_counter()) if per_second else 0)
        following.stop()
        log.close()
    return taken


def writing(what: str, open_file: OpenFile, goal: float, calmness: float = 1.0) -> list[Figure]:
    """A commit with a file that follows the log, against one without."""
    entries = _entries(BATCH * FLOOD)
    some, made = entries[: BATCH * BATCHES], []
    for pace, written, name in ((PER_SECOND, some, f"at {PER_SECOND:,} inputs/s"), (0, entries, "as fast as it goes")):
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(-1, ROUNDS):
            for follows in (bool(turn % 2), not turn % 2):
                taken = _write(written, pace, open_file, follows, calmness)
                seconds[follows] += taken if turn >= 0 else []
        off, on = (percentile(seconds[key], 50) for key in (False, True))
        made.append(
            Figure(
                name=f"write path with {what}, {name}",
                value=round(on / off, 3),
                unit="×",
                against=f"without: {off * 1e3:.2f} ms a commit of {BATCH}",
                goal=f"≤ {goal}",
                ok=on / off <= goal,
            )
        )
    return made


def memory(home: Path, events: int) -> list[Figure]:
    """What a daemon on this log takes once it has answered, and after an hour of 100 events a second, told faster."""
    environ = {**os.environ, "QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0"}
    command = [sys.executable, "-m", "quarterdeck", "daemon"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("Quarterdeck is ready"):
            pass
        qd = [sys.executable, "-m", "quarterdeck", "feed", "--json", "--limit", "1000", "--search", NEEDLE]
        assert json.loads(subprocess.check_output(qd, env=environ))["events"]
        source = differing_payloads()
        used = [_resident(process.pid)]
        for _ in range(4):
            asyncio.run(_tell(home, [json.dumps(next(source)).encode() for _ in range(HOUR // 4)]))
            used.append(_resident(process.pid))
        process.terminate()
    growth = used[-1] / used[1]
    return [
        Figure(
            name=f"memory with {events:,} events and {SESSIONS} live sessions",
            value=round(used[0]),
            unit="MB",
            against="",
            goal="≤ 150",
            ok=used[0] <= 150,
        ),
        Figure(
            name=f"memory after {HOUR:,} more, an hour of 100 a second",
            value=round(used[-1]),
            unit="MB",
            against="",
            goal="≤ 150",
            ok=used[-1] <= 150,
        ),
        Figure(
            name="memory over that hour",
            value=round(growth, 3),
            unit="×",
            against=f"after a quarter of it ({used[1]:.0f} MB)",
            goal="≤ 1.1",
            ok=growth <= 1.1,
        ),
    ]


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


async def _tell(home: Path, bodies: list[bytes]) -> None:
    """Post every payload over a few connections."""
    port = int(json.loads((home / "run" / "daemon.json").read_text())["url"].rsplit(":", 1)[1])
    token = (home / "hook-token").read_text().strip()

    async def worker(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in bodies[first::CONNECTIONS]:
            head = (
                f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 204"), answer
        writer.close()

    await asyncio.gather(*(worker(n) for n in range(CONNECTIONS)))


def figures() -> list[Figure]:
    made = writing("search", SearchIndex, 1.15)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        events = build(home, differing_payloads())
        made.append(indexing(home / "events.db", events))
        made += reading(home / "events.db")
        made += memory(home, events)
    return made


if __name__ == "__main__":
    main(figures)
