"""`POST /hook` for an event that needs no decision, against the same server doing nothing and storing a durable row."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import uvicorn

from benchmarks.common import Figure, main, percentile
from quarterdeck.api.http.asgi import App, Receive, Scope, Send, respond
from quarterdeck.api.http.credentials import Credentials
from quarterdeck.api.http.guard import Guard, GuardedApps
from quarterdeck.daemon.setup.http_server import loop_factory, uvicorn_config

ROUNDS = int(os.environ.get("QD_BENCH_ROUNDS", "5"))
REQUESTS = {1: 1500, 64: 12_000}
TOKEN = "t" * 43
GOAL_MS = 0.5


class Floor:
    """Reads the body, stores it durably as one row with whatever else has queued, answers 204."""

    def __init__(self, path: Path, durability: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute(f"PRAGMA synchronous={durability}")
        self._db.execute("CREATE TABLE rows(n INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        self._queued: list[tuple[str, asyncio.Future[None]]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        if scope["query_string"] != b"nothing":
            loop = asyncio.get_running_loop()
            done = loop.create_future()
            if not self._queued:
                loop.call_soon(self._flush)
            self._queued.append((body.decode(), done))
            await done
        await respond(send, 204)

    def _flush(self) -> None:
        queued, self._queued = self._queued, []
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO rows(body) VALUES(?)", [(body,) for body, _ in queued])
        self._db.execute("COMMIT")
        for _, done in queued:
            done.set_result(None)


def serve_floor(folder: str, durability: str) -> None:
    """Run the floor server; prints its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    port = listening.getsockname()[1]
    app = cast(App, Floor(Path(folder) / "floor.db", durability))
    doors = GuardedApps(hook=app, removed_hook=app, api=app, live=app, pages=app)
    guard = Guard(doors, Credentials("o" * 43, TOKEN, dict), [f"127.0.0.1:{port}"], lambda call: None)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(uvicorn.Server(uvicorn_config(guard)).serve(sockets=[listening]))


@contextmanager
def floor(folder: Path, durability: str) -> Iterator[tuple[int, int]]:
    command = [
        sys.executable,
        "-c",
        f"from benchmarks.hook_post import serve_floor; serve_floor({str(folder)!r}, {durability!r})",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield port, process.pid
        finally:
            process.terminate()


@contextmanager
def daemon(home: Path, durability: str) -> Iterator[tuple[int, int]]:
    home.mkdir(mode=0o700)
    (home / "hook-token").write_text(TOKEN)
    environ = {**os.environ, "QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0"}
    environ["QUARTERDECK_STORE_DURABILITY"] = durability.lower()
    command = [sys.executable, "-m", "quarterdeck", "daemon"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        note = json.loads((home / "run" / "daemon.json").read_text())
        try:
            yield int(note["url"].rsplit(":", 1)[1]), process.pid
        finally:
            process.terminate()


def process_cpu(pid: int) -> float:
    """Seconds of CPU a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def payload(n: int) -> bytes:
    return json.dumps(
        {
            "session_id": f"5bcc959a-d2e0-4b84-99d9-a702456ddf{n % 64:02x}",
            "transcript_path": "/home/dev/.claude/projects/-home-dev-project/5bcc959a.jsonl",
            "cwd": "/home/dev/project",
            "prompt_id": "c73667b9-6917-4297-a59e-efd859bac4a1",
            "permission_mode": "default",
            "effort": {"level": "medium"},
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "touch made.txt && echo hi", "description": "make"},
            "tool_response": {"stdout": "x" * 400, "stderr": "", "interrupted": False, "isImage": False},
            "tool_use_id": f"toolu_{n:012d}",
            "duration_ms": 12,
        },
        separators=(",", ":"),
    ).encode()


async def load(port: int, path: str, concurrency: int, count: int) -> tuple[float, list[float]]:
    """Post `count` payloads; gives requests per second and each latency."""
    latencies: list[float] = []

    async def worker(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for n in range(first, count, concurrency):
            body = payload(n)
            head = (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            started = time.perf_counter()
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            latencies.append(time.perf_counter() - started)
            assert answer.startswith(b"HTTP/1.1 204"), answer
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(worker(n) for n in range(concurrency)))
    return count / (time.perf_counter() - started), latencies


class Measured:
    """Everything one candidate showed at one concurrency."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.p50: list[float] = []
        self.rps: list[float] = []

    def add(self, port: int, pid: int, path: str, concurrency: int) -> None:
        count = REQUESTS[concurrency]
        before = process_cpu(pid)
        rps, latencies = asyncio.run(load(port, path, concurrency, count))
        self.cpu.append((process_cpu(pid) - before) / count)
        self.p50.append(percentile(latencies, 50))
        self.rps.append(rps)


def measure(durability: str) -> dict[tuple[str, int], Measured]:
    """All candidates, interleaved."""
    found: dict[tuple[str, int], Measured] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        floor(Path(folder), durability) as stored,
        daemon(Path(folder) / "home", durability) as running,
    ):
        candidates = {"daemon": (*running, "/hook"), "floor": (*stored, "/hook"), "nothing": (*stored, "/hook?nothing")}
        for concurrency in REQUESTS:
            for _ in range(ROUNDS + 1):
                for name, (port, pid, path) in candidates.items():
                    found.setdefault((name, concurrency), Measured()).add(port, pid, path, concurrency)
            for name in candidates:
                warm = found[name, concurrency]
                del warm.cpu[0], warm.p50[0], warm.rps[0]
    return found


def figures() -> list[Figure]:
    made: list[Figure] = []
    for durability in ("FULL", "NORMAL"):
        found = measure(durability)
        for concurrency in REQUESTS:
            made += _figures(found, durability.lower(), concurrency)
    return made


def _figures(found: dict[tuple[str, int], Measured], durability: str, concurrency: int) -> list[Figure]:
    daemon, least, nothing = (found[name, concurrency] for name in ("daemon", "floor", "nothing"))
    where = f"POST /hook, {durability}, c={concurrency}"
    made = [
        _ratio(f"{where}: CPU", daemon.cpu, least.cpu),
        _ratio(f"{where}: p50", daemon.p50, least.p50),
        _ratio(f"{where}: the floor's CPU against a do-nothing app", least.cpu, nothing.cpu, "a do-nothing app"),
    ]
    if concurrency > 1:
        return [*made, _ratio(f"{where}: throughput", daemon.rps, least.rps)]
    added = percentile([a - b for a, b in zip(daemon.p50, nothing.p50, strict=True)], 50) * 1000
    goal = Figure(
        name=f"{where}: added to a hook call, p50",
        value=round(added, 3),
        unit="ms",
        against="a do-nothing app, same server",
        goal=f"≤ {GOAL_MS:g}",
        ok=added <= GOAL_MS,
    )
    return [goal, *made]


def _ratio(name: str, values: list[float], base: list[float], against: str = "raw durable row, same server") -> Figure:
    """The median of the rounds' ratios: each round ran both within the same second. For information, without a goal."""
    ratio = percentile([a / b for a, b in zip(values, base, strict=True)], 50)
    return Figure(name=name, value=round(ratio, 3), unit="×", against=against, goal="", ok=True)


if __name__ == "__main__":
    main(figures)
