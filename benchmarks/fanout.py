"""500 events a second to 200 surfaces: what each costs in frames gathered and shared, against a frame per event."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import websockets

from benchmarks.common import Figure, main, percentile
from benchmarks.hook_post import TOKEN, payload, process_cpu
from quarterdeck.api.live.broadcast import Broadcaster, BroadcastLimits
from quarterdeck.core.model.events import FeedEvent

CLIENTS = 200
POSTS = 500
PER_SECOND = 500
ROUNDS = int(os.environ.get("QD_BENCH_ROUNDS", "3"))


class OneByOne(Broadcaster):
    """A frame of its own for every event, as soon as it is on record."""

    def published(self, events: list[FeedEvent], *, at_once: bool = True) -> None:
        for event in events:
            super().published([event], at_once=at_once)
            self.flush()


def serve(one_by_one: bool) -> None:
    """The ordinary daemon, with one or the other way to tell its surfaces."""
    from quarterdeck.cli.main import main as run
    from quarterdeck.daemon import app as daemon

    if one_by_one:
        setattr(daemon, "Broadcaster", lambda backend: OneByOne(backend, BroadcastLimits(frame_bytes=0)))  # noqa: B010
    sys.argv = ["quarterdeck", "daemon"]
    run()


@contextmanager
def daemon(home: Path, one_by_one: bool) -> Iterator[tuple[int, int, str]]:
    """Its port, pid and the owner's token."""
    home.mkdir(mode=0o700)
    (home / "hook-token").write_text(TOKEN)
    environ = {**os.environ, "QUARTERDECK_HOME": str(home), "QUARTERDECK_PORT": "0"}
    command = [sys.executable, "-c", f"from benchmarks.fanout import serve; serve({one_by_one})"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        note = json.loads((home / "run" / "daemon.json").read_text())
        yield int(note["url"].rsplit(":", 1)[1]), process.pid, (home / "token").read_text().strip()
        process.terminate()


class Surface(asyncio.Protocol):
    """Counts the events it is told, and does nothing else: it shares the machine with the daemon."""

    def __init__(self, port: int, token: str) -> None:
        self.events = 0
        self._rest = b""
        self._head = (
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        ).encode()
        hello = {"type": "hello", "protocol": 2, "client": "bench", "token": token, "topics": ["feed"]}
        frame = websockets.Frame(websockets.Opcode.TEXT, json.dumps(hello).encode())
        self._hello = frame.serialize(mask=True)
        self.greeted = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._head)

    def data_received(self, data: bytes) -> None:
        if self._head and b"\r\n\r\n" in data:
            self._head = b""
            self.transport.write(self._hello)
            return
        if not self.greeted.done() and b'"snapshot"' in data:
            self.greeted.set_result(None)
        seen = self._rest + data
        self.events += seen.count(b'{"type":"event"')
        self._rest = seen[-15:] if b'{"type":"event"' not in seen[-15:] else b""


async def post(port: int) -> None:
    """Things happen at a steady pace, or as fast as the daemon can."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    started = time.perf_counter()
    for n in range(POSTS):
        await asyncio.sleep(max(0.0, started + n / PER_SECOND - time.perf_counter()))
        body = payload(n)
        head = f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 204"), answer
    writer.close()


async def deliver(port: int, pid: int, token: str) -> float:
    """Seconds of the daemon's CPU per event and surface, less what the posts alone cost."""
    alone = process_cpu(pid)
    await post(port)
    alone = process_cpu(pid) - alone
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: Surface(port, token), "127.0.0.1", port) for _ in range(CLIENTS)]
    surfaces = [surface for _, surface in made]
    await asyncio.gather(*(surface.greeted for surface in surfaces))
    before = process_cpu(pid)
    await post(port)
    deadline = time.monotonic() + 60
    while min(surface.events for surface in surfaces) < POSTS and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    used = process_cpu(pid) - before - alone
    delivered = sum(surface.events for surface in surfaces)
    assert delivered >= POSTS * CLIENTS, f"only {delivered} of {POSTS * CLIENTS} events arrived"
    for transport, _ in made:
        transport.close()
    return used / delivered


def measure() -> tuple[list[float], list[float]]:
    """Both ways, interleaved."""
    gathered_seconds, each = [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        daemon(Path(folder) / "gathered", False) as gathered,
        daemon(Path(folder) / "each", True) as single,
    ):
        for _ in range(ROUNDS + 1):
            gathered_seconds.append(asyncio.run(deliver(*gathered)))
            each.append(asyncio.run(deliver(*single)))
    return gathered_seconds[1:], each[1:]


def figures() -> list[Figure]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    gathered_seconds, each = measure()
    ratio = percentile([b / a for a, b in zip(gathered_seconds, each, strict=True)], 50)
    cost = percentile(gathered_seconds, 50) * 1e6
    name = f"{CLIENTS} surfaces: CPU per delivered event, a frame each ÷ gathered"
    against = "the same daemon with a frame per event"
    return [
        Figure(name=name, value=round(ratio, 2), unit="×", against=against, goal="≥ 4", ok=ratio >= 4),
        Figure(
            name=f"{CLIENTS} surfaces: CPU per delivered event",
            value=round(cost, 2),
            unit="µs",
            against="this machine",
            goal="",
            ok=True,
        ),
    ]


if __name__ == "__main__":
    main(figures)
