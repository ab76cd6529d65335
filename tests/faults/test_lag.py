"""The loop stays prompt while events pour in and a thousand agents wait; the daemon's own figures say so."""

import http.client
import itertools
import json
import resource
import selectors
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from quarterdeck.cli.findings import quantile
from tests.support.daemon import Daemon, Json, permission, until

pytestmark = pytest.mark.faults

PENDING = 1000
RATE = 500
SURFACES = 100
WINDOWS, WINDOW_SECONDS = 3, 3.0
SENDERS = 10


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Events:
    """So many hook payloads a second, over kept connections, for as long as the `with` lasts."""

    def __init__(self, daemon: Daemon, rate: float) -> None:
        self._daemon = daemon
        self._every = SENDERS / rate
        self._over = threading.Event()
        self._senders = [threading.Thread(target=self._send, args=(n,), daemon=True) for n in range(SENDERS)]

    def __enter__(self) -> Self:
        for sender in self._senders:
            sender.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        for sender in self._senders:
            sender.join(10)

    def _send(self, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._daemon.port, timeout=30)
        headers = {"Authorization": f"Bearer {self._daemon.hook_token}", "Content-Type": "application/json"}
        due, count = time.monotonic(), 0
        while not self._over.is_set():
            connection.request("POST", "/hook", json.dumps(payload(number, count)), headers)
            connection.getresponse().read()
            due, count = due + self._every, count + 1
            self._over.wait(max(0.0, due - time.monotonic()))
        connection.close()


class Surfaces:
    """So many surfaces that listen to everything; what they are sent is read and counted, for as long as the `with`
    lasts."""

    def __init__(self, daemon: Daemon, count: int) -> None:
        self.received = [0] * count
        self.closed = 0
        self._over = threading.Event()
        self._ready = selectors.DefaultSelector()
        for number in range(count):
            self._ready.register(listener(daemon), selectors.EVENT_READ, number)
        self._reading = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reading.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._reading.join(10)
        for key in list(self._ready.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._ready.close()

    def _read(self) -> None:
        while not self._over.is_set():
            for key, _ in self._ready.select(0.1):
                content = key.fileobj.recv(1 << 18)  # type: ignore[union-attr]
                self.received[key.data] += len(content)
                if not content:
                    self._ready.unregister(key.fileobj)
                    self.closed += 1


def listener(daemon: Daemon) -> socket.socket:
    """A WebSocket that has said hello; nothing of it is parsed, so that a hundred cost the test little."""
    connection = socket.create_connection(("127.0.0.1", daemon.port), timeout=10)
    head = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nAuthorization: Bearer {daemon.token}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    connection.sendall(head.encode())
    assert connection.recv(1 << 16).startswith(b"HTTP/1.1 101")
    hello = {"type": "hello", "protocol": 2, "client": "web", "topics": ["feed", "requests", "sessions"]}
    body = json.dumps(hello).encode()
    connection.sendall(b"\x81" + bytes([0x80 | len(body)]) + bytes(4) + body)
    return connection


def payload(sender: int, count: int) -> Json:
    """A tool call and its result, in turn."""
    return {
        "hook_event_name": "PostToolUse" if count % 2 else "PreToolUse",
        "session_id": f"busy-{sender}-{count // 2 % 4}",
        "cwd": "/w",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
        "tool_use_id": f"t{sender}-{count // 2}",
    }


def during(before: Json, after: Json) -> Json:
    """What a histogram took in between."""
    buckets = [[b, n - m] for (b, n), (_, m) in zip(after["buckets"], before["buckets"], strict=True)]
    return {"count": after["count"] - before["count"], "buckets": buckets}


@pytest.mark.law("E14")
def test_the_loop_is_prompt_at_500_events_a_second_with_1000_pending_and_100_surfaces(tmp_path: Path) -> None:
    with ExitStack() as load:
        daemon = load.enter_context(Daemon(tmp_path / "home"))
        for n in range(PENDING):
            daemon.hold(permission(f"make {n}", f"held-{n % 50}"))
        daemon.until_pending(PENDING, 60)
        surfaces = load.enter_context(Surfaces(daemon, SURFACES))
        until(lambda: min(surfaces.received) > 0, 20, what="a snapshot on every surface")
        load.enter_context(Events(daemon, RATE))
        looks = [daemon.api("GET", "/stats")[1]]
        for _ in range(WINDOWS):
            time.sleep(WINDOW_SECONDS)
            looks.append(daemon.api("GET", "/stats")[1])
        assert (looks[-1]["requests"]["held"], looks[-1]["surfaces"], surfaces.closed) == (PENDING, SURFACES, 0)
    lags, rates = [], []
    for before, after in itertools.pairwise(looks):
        rates.append((after["events"]["recorded"] - before["events"]["recorded"]) / (after["at"] - before["at"]))
        window = during(before["loop_lag_seconds"], after["loop_lag_seconds"])
        assert window["count"] > 50
        lags.append(quantile(window, 0.99) or 0.0)
    assert statistics.median(rates) > 0.8 * RATE, f"the load was not reached: {rates}"
    assert statistics.median(lags) <= 0.05, lags
