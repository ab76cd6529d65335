"""An error at the edge that nothing caught: logged with its input, and it ends one connection."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from quarterdeck.api.http.asgi import Receive, Scope, Send, respond
from quarterdeck.daemon.ingest.unix_socket import SocketServer
from quarterdeck.daemon.setup.http_server import DaemonServer, uvicorn_config

pytestmark = pytest.mark.law("I4")


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/bug":
        raise KeyError("a bug")
    await respond(send, 200, b"{}")


class BuggyIntake:
    """An intake that fails at every call."""

    refused: dict[str, int] = {}

    def receive(self, *args: object) -> None:
        raise KeyError("a bug")

    receive_payload = receive


async def answer_to(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    answer = await reader.read(1 << 16)
    writer.close()
    return answer


async def test_an_error_behind_a_request_is_logged_with_its_head() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = DaemonServer(uvicorn_config(application))
        port = listening.getsockname()[1]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await server.ready.wait()
        try:
            with capture_logs() as entries:
                request = b"GET /bug?n=1 HTTP/1.1\r\nHost: x\r\nCookie: secret\r\nConnection: close\r\n\r\n"
                assert (await answer_to(port, request)).startswith(b"HTTP/1.1 500 ")
            assert (await answer_to(port, request.replace(b"/bug", b"/"))).startswith(b"HTTP/1.1 200 ")
        finally:
            server.should_exit = True
            await serving
    (entry,) = [entry for entry in entries if entry["event"] == "an error was not handled"]
    assert entry["head"] == "GET /bug?n=1 | host: x | cookie: ... | connection: close"


@pytest.mark.parametrize(
    "line", [b"QDHOOK/2 2 enforce cli - - c1\n{}", b'{"request_id":"r","payload":{}}\n'], ids=["forwarder", "envelope"]
)
async def test_an_error_behind_a_call_of_the_socket_is_logged_and_hangs_up(tmp_path: Path, line: bytes) -> None:
    path = os.path.relpath(tmp_path / "s")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(path)
    server = SocketServer(cast(Any, BuggyIntake()))
    await server.start(bound)
    try:
        with capture_logs() as entries:
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(line)
            assert await reader.read() == b""
            writer.close()
    finally:
        await server.stop()
    error, debug = entries
    assert (error["where"], error["log_level"], debug["log_level"]) == ("hook socket", "error", "debug")
    assert debug["raw"] == ascii(line.partition(b"\n")[0] + b"\n")[2:-1]
