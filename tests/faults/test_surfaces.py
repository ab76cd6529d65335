"""Surfaces that do not read, do not answer or do not leave: the daemon's memory stays, others notice nothing."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path

import pytest

from tests.faults.test_slow import resident
from tests.support.access import as_token
from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.live import ALL, Socket, following, hello, opened

pytestmark = pytest.mark.faults


class Deaf:
    """A client that greets and then never reads; its buffers are small."""

    def __init__(self, daemon: Daemon, said: Json) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", daemon.port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b" 101 " in self.socket.recv(1024)
        self.send(0x81, json.dumps(said).encode())

    def send(self, opcode: int, content: bytes) -> None:
        """One masked frame."""
        self.socket.sendall(frame(opcode, content))

    def is_dropped(self) -> bool:
        """Whether the daemon has given up on us."""
        with suppress(BlockingIOError, TimeoutError):
            self.socket.settimeout(0.0)
            try:
                self.socket.send(frame(0x8A, b""))
            except ConnectionError:
                return True
        return False

    def __enter__(self) -> Deaf:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def frame(opcode: int, content: bytes) -> bytes:
    size = len(content)
    head = struct.pack("!BB", opcode, 0x80 | size) if size < 126 else struct.pack("!BBH", opcode, 0xFE, size)
    return head + bytes(4) + content


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        running.hook(prompt("begin"))
        yield running
        assert "Traceback" not in running.stderr()


def sockets_of(pid: int) -> int:
    """How many connections a process holds."""
    found = 0
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found += os.readlink(path).startswith("socket:")
    return found


def pour(daemon: Daemon, megabytes: int) -> None:
    """Events of so many bytes together."""
    for n in range(megabytes * 4):
        assert daemon.hook(prompt(f"{n} " + "x" * (256 << 10), "pours"))[0] == 204


def last(daemon: Daemon) -> int:
    return int(daemon.api("GET", "/feed?before=9007199254740991&limit=1")[1]["events"][0]["seq_no"])


async def events_until_prompt(client: Socket, words: str) -> list[int]:
    got: list[int] = []
    while True:
        event = (await client.until("event", 30))["event"]
        got.append(event["seq_no"])
        if event["kind"] == "user.prompt" and event["data"]["prompt"] == words:
            return got


@pytest.mark.law("E9")
async def test_who_does_not_read_is_cut_off_and_costs_nothing(daemon: Daemon) -> None:
    await asyncio.to_thread(pour, daemon, 4)
    before, start = resident(daemon.pid), last(daemon)
    with ExitStack() as stack:
        deaf = [stack.enter_context(Deaf(daemon, hello(daemon.token))) for _ in range(10)]
        deaf += [stack.enter_context(Deaf(daemon, hello(daemon.token, after=0))) for _ in range(10)]
        async with following(daemon, topics=["feed"]) as client:
            reading = asyncio.create_task(events_until_prompt(client, "the end"))
            pouring = asyncio.create_task(asyncio.to_thread(pour, daemon, 40))
            while not pouring.done():
                await asyncio.wait([pouring], timeout=0.2)
                began = time.monotonic()
                status = await asyncio.to_thread(daemon.api, "GET", "/sessions")
                assert (status[0], time.monotonic() - began < 2) == (200, True)
            await asyncio.to_thread(daemon.hook, prompt("the end"))
            got = await asyncio.wait_for(reading, 30)
            assert got == list(range(start + 1, start + 1 + len(got)))
        assert resident(daemon.pid) - before < 80 << 20
        await asyncio.to_thread(until, lambda: all(one.is_dropped() for one in deaf), 40, every=0.5)
    assert resident(daemon.pid) - before < 80 << 20


@pytest.mark.law("E9")
async def test_one_that_reads_too_slowly_is_told_of_a_gap_and_resumes(daemon: Daemon) -> None:
    start = await asyncio.to_thread(last, daemon)
    with Deaf(daemon, hello(daemon.token, topics=["feed"])) as slow:
        await asyncio.to_thread(pour, daemon, 24)
        slow.socket.settimeout(10)
        content = b""
        while b'"gap"' not in content[-4096:] and (chunk := slow.socket.recv(1 << 20)):
            content += chunk
    assert b'{"type":"gap"' in content
    seen = content.count(b'{"type":"event"')
    assert 0 < seen < 96
    async with following(daemon, after=start + seen, topics=["feed"]) as client:
        end = await asyncio.to_thread(last, daemon)
        assert await client.events_until(end) == list(range(start + seen + 1, end + 1))


@pytest.mark.law("E9")
def test_pings_of_one_that_does_not_read_are_not_answered_without_end(daemon: Daemon) -> None:
    before = resident(daemon.pid)
    with Deaf(daemon, hello(daemon.token, topics=[])) as deaf:
        pings = frame(0x89, b"x" * 125) * 1000
        deaf.socket.settimeout(1.0)
        with suppress(TimeoutError, ConnectionError):
            for _ in range(400):
                deaf.socket.sendall(pings)
        assert resident(daemon.pid) - before < 32 << 20
        assert daemon.api("GET", "/healthz")[0] == 200


@pytest.mark.law("E9")
def test_one_that_says_goodbye_but_does_not_read_is_not_waited_for(daemon: Daemon) -> None:
    pour(daemon, 2)
    before = sockets_of(daemon.pid)
    with ExitStack() as stack:
        for goodbye in (frame(0x88, struct.pack("!H", 1000)), frame(0x81, b"no JSON"), frame(0x83, b"")):
            deaf = stack.enter_context(Deaf(daemon, hello(daemon.token, after=0)))
            deaf.socket.sendall(goodbye)
        until(lambda: sockets_of(daemon.pid) <= before, 12, every=0.2, what="closed connections")


async def test_whoever_only_knocks_is_no_surface(tmp_path: Path) -> None:
    """A request of a headless session is held only when somebody is there to decide it."""
    with Daemon(tmp_path / "home", env={"QUARTERDECK_DECIDE_HOLD": "auto"}) as daemon:
        async with opened(daemon):
            answer = await asyncio.to_thread(daemon.hook, permission("ls"), 3.0)
            assert answer == (204, b"")
        async with following(daemon):
            held = await asyncio.to_thread(daemon.hold, permission("ls"))
            await asyncio.to_thread(daemon.until_pending, 1)
            held.close()


@pytest.mark.law("D13")
async def test_a_stop_is_quick_and_says_so_whoever_is_connected(daemon: Daemon) -> None:
    await asyncio.to_thread(pour, daemon, 20)
    with ExitStack() as deaf_ones:
        for _ in range(5):
            deaf_ones.enter_context(Deaf(daemon, hello(daemon.token, after=0)))
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(following(daemon)) for _ in range(50)]
            catching_up = [await stack.enter_async_context(following(daemon, after=0)) for _ in range(5)]
            silent = await stack.enter_async_context(opened(daemon))
            held = await asyncio.to_thread(daemon.hold, permission("waits"))
            await asyncio.to_thread(daemon.until_pending, 1)
            started = time.monotonic()
            daemon.terminate()
            ended = asyncio.create_task(asyncio.to_thread(daemon.ended))
            codes = await asyncio.gather(*(client.closed() for client in [*clients, *catching_up, silent]))
            assert await ended == 0
            assert time.monotonic() - started < 2
            assert {code for code, _ in codes} <= {1012, 1001}
            assert held.answer() == (204, b"")


async def test_those_who_come_and_go_leave_nothing_behind(daemon: Daemon) -> None:
    threads = Path(f"/proc/{daemon.pid}/task")
    stop = threading.Event()

    def chatter() -> None:
        while not stop.is_set():
            daemon.hook(prompt("again"))
            stop.wait(0.01)

    talking = threading.Thread(target=chatter)
    talking.start()
    try:
        for round_ in range(5):
            if round_ == 2:
                before, size = sockets_of(daemon.pid), resident(daemon.pid)
            async with AsyncExitStack() as stack:
                for n in range(12):
                    client = await stack.enter_async_context(opened(daemon))
                    await client.send(hello(daemon.token, after=0 if n % 2 else None, topics=ALL[: n % 4]))
                    if n % 3:
                        client.connection.transport.abort()
    finally:
        stop.set()
        talking.join()
    await asyncio.to_thread(until, lambda: sockets_of(daemon.pid) <= before + 1, 12, every=0.2)
    assert resident(daemon.pid) - size < 24 << 20
    assert len(list(threads.iterdir())) < 40
    assert as_token(daemon, daemon.token, "GET", "/api/v1/me").status == 200
