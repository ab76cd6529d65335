"""A minimal WebSocket client: sends any message and returns every message of every frame."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from jsonschema import Draft202012Validator
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from quarterdeck.api.live.ws_messages import message_schema
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json

ALL = ["feed", "requests", "sessions"]
_SCHEMA = message_schema()
MESSAGES = {
    kind: Draft202012Validator({"$defs": _SCHEMA["$defs"], "$ref": name})
    for kind, name in _SCHEMA["$defs"]["server"]["discriminator"]["mapping"].items()
}
"""The published schema of each type of message. What a test reads is checked against it."""
CHECKED = 20
"""Messages of each type that a connection checks. To check each of a flood takes ten times as long as the flood."""


class Socket:
    """One connection. `frames` counts received frames, `welcome` is the answer to its hello."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames = 0
        self.welcome: Json = {}
        self._checked: Counter[str] = Counter()
        self._waiting: list[Json] = []

    async def send(self, message: object) -> None:
        await self.connection.send(json.dumps(message))

    async def read(self, seconds: float = PATIENCE_SECONDS) -> Json:
        """The next message."""
        while not self._waiting:
            frame = await asyncio.wait_for(self.connection.recv(), seconds)
            self.frames += 1
            if isinstance(frame, bytes):
                return {"type": "binary", "frame": frame}
            value = json.loads(frame)
            self._waiting = value if isinstance(value, list) else [value]
            for message in self._waiting:
                self._check(message)
        return self._waiting.pop(0)

    def _check(self, message: Json) -> None:
        kind = message["type"]
        schema = MESSAGES[kind]
        self._checked[kind] += 1
        if self._checked[kind] <= CHECKED:
            schema.validate(message)

    async def until(self, kind: str, seconds: float = PATIENCE_SECONDS, **fields: Any) -> Json:
        """The next message of this type with these fields; earlier ones are dropped."""
        async with asyncio.timeout(seconds):
            while True:
                message = await self.read(seconds)
                if message["type"] == kind and fields.items() <= message.items():
                    return message

    async def request_until(self, **fields: Any) -> Json:
        """The next view of a request with these fields. A request may be sent more than once, as more becomes known."""
        while True:
            request = dict((await self.until("request"))["request"])
            if fields.items() <= request.items():
                return request

    async def events_until(self, seq_no: int, seconds: float = PATIENCE_SECONDS) -> list[int]:
        """The positions of all events up to this one, as they come."""
        got: list[int] = []
        async with asyncio.timeout(seconds):
            while not got or got[-1] < seq_no:
                message = await self.read(seconds)
                if message["type"] == "event":
                    got.append(message["event"]["seq_no"])
        return got

    async def events_until_prompt(self, words: str, seconds: float = PATIENCE_SECONDS) -> list[int]:
        """The positions of all events up to this prompt, as they come."""
        got: list[int] = []
        while True:
            message = await self.read(seconds)
            if message["type"] == "event":
                got.append(message["event"]["seq_no"])
                if message["event"]["data"].get("prompt") == words:
                    return got

    async def command(self, name: str, **args: Any) -> Json:
        """The ack of a command."""
        await self.send({"type": "command", "id": "c1", "name": name, "args": args})
        return await self.until("ack", id="c1")

    async def closed(self, seconds: float = PATIENCE_SECONDS) -> tuple[int | None, str]:
        """The close of the connection by the daemon; earlier messages are dropped."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.connection.recv()
        except ConnectionClosed as closed:
            return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, "")


def hello(token: str | None, after: int | None = None, topics: list[str] | None = None, **more: Any) -> Json:
    message: Json = {"type": "hello", "protocol": 2, "client": "cli", "version": "0", "after": after}
    return message | {"topics": ALL if topics is None else topics} | ({"token": token} if token else {}) | more


@asynccontextmanager
async def opened(daemon: Daemon, **headers: str) -> AsyncIterator[Socket]:
    """A connection that has sent nothing yet."""
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
    """A connection after the hello; the snapshot has not been read."""
    async with opened(daemon) as socket:
        await socket.send(hello(token or daemon.token, after, topics))
        assert (await socket.read())["type"] == "hello"
        yield socket


async def refused(daemon: Daemon, path: str = "/ws", host: str = "", **headers: str) -> tuple[int, Json]:
    """The status and the error of a refused upgrade."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    where = f"ws://{host or f'127.0.0.1:{daemon.port}'}{path}"
    try:
        async with connect(where, host="127.0.0.1", port=daemon.port, additional_headers=named, proxy=None):
            raise AssertionError("the upgrade was accepted")
    except InvalidStatus as error:
        return error.response.status_code, cast(Json, json.loads(error.response.body or b"{}"))["error"]
