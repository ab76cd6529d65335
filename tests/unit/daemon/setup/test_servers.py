"""The HTTP servers of one daemon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.config.home import prepare_home
from quarterdeck.config.settings import Config
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.daemon.setup.servers import Servers

ANY_PORT = Config.model_validate({"runner": {"port": 0}})


async def _hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


async def _get(url: str) -> bytes:
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_client_is_refused_before_serving_and_after_draining(tmp_path: Path) -> None:
    prepare_home(tmp_path)
    servers = Servers(Home(tmp_path), ANY_PORT)
    with pytest.raises(ConnectionRefusedError):
        await _get(servers.url)
    await servers.serve(lambda listener: _hello)
    assert b"hello" in await _get(servers.url)
    await servers.drain()
    await servers.wait_for_end()
    with pytest.raises(ConnectionRefusedError):
        await _get(servers.url)


async def test_a_start_that_failed_gives_its_port_back(tmp_path: Path) -> None:
    prepare_home(tmp_path)
    first = Servers(Home(tmp_path), ANY_PORT)
    await first.drain()
    second = Servers(Home(tmp_path), ANY_PORT)
    assert second.url == first.url
    await second.drain()
