"""A client of `/ws` as plain as can be: it sends what it is told and gives every message of every frame."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.daemon import Daemon, Json

ALL = ["feed", "requests", "sessions"]
SECONDS = 10.0


class Socket:
    """One connection. `frames` counts what came, `messages` are what was in it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames = 0
        self._waiting: list[Json] = []

    async def send(self, message: object) -> None:
        await self.connection.send(json.dumps(message))

    async def read(self, seconds: float = SECONDS) -> Json:
        """The next message."""
        while not self._waiting:
            value = json.loads(await asyncio.wait_for(self.connection.recv(), seconds))
            self.frames += 1
            self._waiting = value if isinstance(value, list) else [value]
        return self._waiting.pop(0)

    async def until(self, kind: str, seconds: float = SECONDS, **wanted: Any) -> Json:
        """The next message of this type with these fields; what comes before it is dropped."""
        async with asyncio.timeout(seconds):
            while True:
                message = await self.read(seconds)
                if message["type"] == kind and wanted.items() <= message.items():
                    return message

    async def events_until(self, seq_no: int, seconds: float = 30.0) -> list[int]:
        """The positions of all events up to this one, as they come."""
        got: list[int] = []
        async with asyncio.timeout(seconds):
            while not got or got[-1] < seq_no:
                message = await self.read(seconds)
                if message["type"] == "event":
                    got.append(message["event"]["seq_no"])
        return got

    async def command(self, name: str, **args: Any) -> Json:
        """The ack of a command."""
        await self.send({"type": "command", "id": "c1", "name": name, "args": args})
        return await self.until("ack", id="c1")

    async def closed(self, seconds: float = SECONDS) -> tuple[int | None, str]:
        """How the daemon closes it; what comes before is dropped."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.connection.recv()
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, "")


def hello(token: str | None, after: int | None = None, topics: list[str] | None = None, **more: Any) -> Json:
    said: Json = {"type": "hello", "protocol": 2, "client": "cli", "version": "0", "after": after}
    return said | {"topics": ALL if topics is None else topics} | ({"token": token} if token else {}) | more


@asynccontextmanager
async def opened(daemon: Daemon, **headers: str) -> AsyncIterator[Socket]:
    """Connected, and nothing said yet."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    address = f"ws://127.0.0.1:{daemon.port}/ws"
    async with connect(
        address, additional_headers=named, proxy=None, compression=None, max_size=1 << 26, ping_interval=None
    ) as connection:
        yield Socket(connection)


@asynccontextmanager
async def following(
    daemon: Daemon, after: int | None = None, topics: list[str] | None = None, token: str | None = None
) -> AsyncIterator[Socket]:
    """Connected and greeted; the snapshot has not been read."""
    async with opened(daemon) as socket:
        await socket.send(hello(token or daemon.token, after, topics))
        assert (await socket.read())["type"] == "hello"
        yield socket


async def refused(daemon: Daemon, path: str = "/ws", host: str = "", **headers: str) -> tuple[int, Json]:
    """The status and the error of an upgrade that is turned away."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    where = f"ws://{host or f'127.0.0.1:{daemon.port}'}{path}"
    try:
        async with connect(where, host="127.0.0.1", port=daemon.port, additional_headers=named, proxy=None):
            raise AssertionError("the upgrade was accepted")
    except InvalidStatus as error:
        return error.response.status_code, cast(Json, json.loads(error.response.body or b"{}"))["error"]
