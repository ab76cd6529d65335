"""The loop stays prompt while events pour in and a thousand agents wait, and the daemon's own numbers show it."""

import http.client
import json
import os
import resource
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.uri import parse_uri

from quarterdeck import __version__
from quarterdeck.views.health import findings, quantile
from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.failpoints import faulty

pytestmark = pytest.mark.faults

PENDING = 1000
RATE = 500
SURFACES = 100
EVENTS, SAMPLES = 2000, 400
"""The least number of events and of samples of the loop: one sample in a hundred must be more than one."""
SENDERS = 10


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Events:
    """This many hook payloads a second, over kept connections, for as long as the `with` lasts."""

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
            sender.join()

    def _send(self, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._daemon.port, timeout=60)
        headers = {"Authorization": f"Bearer {self._daemon.hook_token}", "Content-Type": "application/json"}
        due, count = time.monotonic(), 0
        while not self._over.is_set():
            connection.request("POST", "/hook", json.dumps(payload(number, count)), headers)
            connection.getresponse().read()
            due, count = due + self._every, count + 1
            self._over.wait(max(0.0, due - time.monotonic()))
        connection.close()


class Surface:
    """A WebSocket that has sent hello and subscribes to everything."""

    def __init__(self, daemon: Daemon) -> None:
        self.received = 0
        self.socket = socket.create_connection(("127.0.0.1", daemon.port), timeout=60)
        self._protocol = ClientProtocol(parse_uri(f"ws://127.0.0.1:{daemon.port}/ws"))
        request = self._protocol.connect()
        request.headers["Authorization"] = f"Bearer {daemon.token}"
        self._protocol.send_request(request)
        self._flush()
        while self._protocol.state is not State.OPEN:
            self.read()
        hello = {"type": "hello", "protocol": 2, "client": "web", "topics": ["feed", "requests", "sessions"]}
        self._protocol.send_text(json.dumps(hello).encode())
        self._flush()
        self.received = 0

    def read(self) -> None:
        """Take what has come; pings are answered, the rest is counted and forgotten."""
        content = self.socket.recv(1 << 18)
        self.received += len(content)
        self._protocol.receive_data(content) if content else self._protocol.receive_eof()
        self._protocol.events_received()
        self._flush()

    def _flush(self) -> None:
        for content in self._protocol.data_to_send():
            if content:
                self.socket.sendall(content)


class Surfaces:
    """This many surfaces, read by one thread for as long as the `with` lasts."""

    def __init__(self, daemon: Daemon, count: int) -> None:
        self.all = [Surface(daemon) for _ in range(count)]
        self._over = threading.Event()
        self._reading = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._reading.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._reading.join()
        for surface in self.all:
            surface.socket.close()

    def _read(self) -> None:
        with selectors.DefaultSelector() as ready:
            for surface in self.all:
                ready.register(surface.socket, selectors.EVENT_READ, surface)
            while not self._over.is_set():
                for key, _ in ready.select(0.1):
                    key.data.read()


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


def spent(pid: int) -> float:
    """Seconds of a processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.law("E14")
def test_the_loop_is_prompt_at_500_events_a_second_with_1000_pending_and_100_surfaces(tmp_path: Path) -> None:
    """Time in which the daemon waits for a processor does not count: a busy machine makes it neither late nor slow."""
    with ExitStack() as load:
        daemon = load.enter_context(Daemon(tmp_path / "home", launch=faulty("--own-time")))
        for n in range(PENDING):
            daemon.hold(permission(f"make {n}", f"held-{n % 50}"))
        daemon.until_pending(PENDING)
        surfaces = load.enter_context(Surfaces(daemon, SURFACES))
        until(lambda: all(s.received for s in surfaces.all), what="a snapshot on every surface")
        before, spent_before = daemon.api("GET", "/stats")[1], spent(daemon.pid)
        load.enter_context(Events(daemon, RATE))
        after = until(lambda: enough(daemon, before), every=0.2, what=f"{EVENTS} events") or {}
        seconds = spent(daemon.pid) - spent_before
        assert (after["requests"]["held"], after["surfaces"]) == (PENDING, SURFACES)
    lag = during(before["loop_lag_seconds"], after["loop_lag_seconds"])
    assert (quantile(lag, 0.99) or 0.0) <= 0.05, lag
    assert (after["events"]["recorded"] - before["events"]["recorded"]) / seconds > RATE


def enough(daemon: Daemon, before: Json) -> Json | None:
    """The daemon's stats once it has recorded enough events and sampled its loop often enough."""
    stats: Json = daemon.api("GET", "/stats")[1]
    events = stats["events"]["recorded"] - before["events"]["recorded"]
    samples = stats["loop_lag_seconds"]["count"] - before["loop_lag_seconds"]["count"]
    return stats if events >= EVENTS and samples >= SAMPLES else None


def test_a_prompt_loop_reports_no_problem(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", launch=faulty("--own-time")) as daemon:
        daemon.hook(prompt("hello"))

        def is_well() -> bool:
            stats = daemon.api("GET", "/stats")[1]
            known = stats["loop_lag_seconds"]["p99"] is not None
            return known and all(check.ok for check in findings(stats, __version__))

        until(is_well, 90, every=0.2, what="a minute in which the loop was in time")
