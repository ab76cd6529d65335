"""The head of a request has a limit before it is parsed, so that no client stalls the others."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import pytest

from tests.support.daemon import PATIENCE_SECONDS, Daemon, prompt

pytestmark = pytest.mark.faults

MEGABYTE = b"x" * 1_000_000
POST = b"POST /hook HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"

ENDLESS = {
    "a header": (b"GET /healthz HTTP/1.1\r\nX-Long: ", MEGABYTE),
    "a header's name": (b"GET /healthz HTTP/1.1\r\n", MEGABYTE),
    "many headers": (b"GET /healthz HTTP/1.1\r\n", b"A: b\r\n" * 200_000),
    "a target": (b"GET /", MEGABYTE),
    "a method": (b"", b"G" * 1_000_000),
    "blank lines": (b"", b"\r\n" * 500_000),
    "trailers": (POST + b"1\r\nx\r\n0\r\n", b"A: b\r\n" * 200_000),
    "a chunk's extension": (POST + b"1;", MEGABYTE),
}


@pytest.mark.law("I1")
@pytest.mark.law("I4")
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_head_ends_the_connection_and_stalls_nobody(daemon: Daemon, name: str) -> None:
    start, more = ENDLESS[name]
    connection = socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS)
    sent = 0
    with connection, suppress(ConnectionError):
        connection.sendall(start)
        while sent < 64:
            connection.sendall(more)
            sent += 1
    assert sent < 64
    assert daemon.hook(prompt("still there"))[0] == 204


@pytest.mark.law("I1")
def test_a_head_that_is_too_long_is_named(daemon: Daemon) -> None:
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 64 * 1024)
        answer = connection.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b'"kind":"too_large"' in answer


@pytest.mark.parametrize("size", [0, 20_000, 40_000])
def test_a_long_head_within_the_limit_is_read(daemon: Daemon, size: int) -> None:
    head = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nX-Long: ".encode() + b"x" * size + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS) as connection:
        for _ in range(3):
            for at in range(0, len(head), 7_000):
                connection.sendall(head[at : at + 7_000])
                time.sleep(0.001)
            answer = b""
            while not answer.endswith(b"}"):
                answer += connection.recv(1 << 16)
            assert answer.startswith(b"HTTP/1.1 200 ")


def test_a_large_body_is_read_after_a_short_head(daemon: Daemon) -> None:
    assert daemon.hook({**prompt("large"), "more": "x" * 3_000_000})[0] == 204


@pytest.mark.law("A4")
@pytest.mark.parametrize("target", ["http://127.0.0.1/healthz", "http://evil.example/healthz", "healthz", "*"])
def test_a_target_that_is_no_path_is_refused(daemon: Daemon, target: str) -> None:
    head = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400 ")
