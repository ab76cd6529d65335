"""The WebSocket client: a snapshot, then every change, across restarts of the daemon and gaps."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Self

import msgspec
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI

from quarterdeck import __version__
from quarterdeck.errors import NoDaemon, Refused
from quarterdeck.surfaces.client.places import by_place

PROTOCOL = 2
FIRST_WAIT = 0.2
LONGEST_WAIT = 5.0
FRAME_BYTES = 64 * 1024 * 1024
FINAL = {4401: "the token is not accepted", 4403: "this surface may not connect", 4406: "the protocols differ"}


class Connected(Struct, frozen=True):
    """The connection is up. `resumed` is false when events between the client's last one and `seq_no` are no longer
    kept."""

    seq_no: int
    runner_id: str
    daemon_version: str
    resumed: bool


class Lost(Struct, frozen=True):
    """The connection was lost; the client tries again."""

    reason: str


class LiveMessage(Struct, frozen=True):
    """One message of the daemon: snapshot, event, request, session, stream, notice."""

    kind: str
    body: dict[str, Any]


class LiveClient:
    """Follows one daemon. `where` is called at each attempt, because a restart may change the URL and the token."""

    def __init__(
        self,
        where: Callable[[], tuple[str, str]],
        *,
        client: str,
        topics: list[str],
        after: int | None = None,
    ) -> None:
        self.after = after
        self._where = where
        self._client = client
        self._topics = topics
        self._socket: ClientConnection | None = None
        self._ids = itertools.count(1)
        self._acks: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._is_visible = True

    async def show(self, visible: bool) -> None:
        """Say whether a person sees this surface, now and after every reconnect."""
        if visible != self._is_visible:
            self._is_visible = visible
            if self._socket is not None:
                await self._send_visible(self._socket)

    async def _send_visible(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            await socket.send(json.dumps({"type": "visible", "visible": self._is_visible}))

    async def follow(self) -> AsyncGenerator[Connected | Lost | LiveMessage]:
        """Yield messages forever, reconnecting as needed. Raises `Refused` when another attempt cannot help."""
        wait = FIRST_WAIT
        reason = "this client was closed"
        try:
            while True:
                try:
                    async with aclosing(self._once()) as connection:
                        async for message in connection:
                            wait = FIRST_WAIT if isinstance(message, Connected) else wait
                            yield message
                    reason = "the connection closed"
                except (OSError, ValueError, NoDaemon, InvalidHandshake, InvalidMessage, InvalidURI) as error:
                    _raise_if_refused(error)
                    reason = str(error) or type(error).__name__
                self._drop(reason)
                yield Lost(reason)
                await asyncio.sleep(random.uniform(wait / 2, wait))  # noqa: S311
                wait = min(wait * 2, LONGEST_WAIT)
        finally:
            self._drop(reason)

    async def _once(self) -> AsyncGenerator[Connected | LiveMessage]:
        url, token = self._where()
        address = f"{url.replace('http', 'ws', 1)}/ws"
        async with connect(address, max_size=FRAME_BYTES, compression=None, proxy=None) as socket:
            hello = {"type": "hello", "protocol": PROTOCOL, "client": self._client, "version": __version__}
            hello |= {"token": token, "after": self.after, "topics": self._topics}
            await socket.send(json.dumps(hello))
            if not self._is_visible:
                await self._send_visible(socket)
            self._socket = socket
            try:
                async for frame in socket:
                    for body in read_frame(frame):
                        message = self._read(body)
                        if message is not None:
                            yield message
            except ConnectionClosed as closed:
                _raise_if_final(closed)
            _raise_if_final(socket)

    def _read(self, message: dict[str, Any]) -> Connected | LiveMessage | None:
        kind = str(message.get("type"))
        if kind == "hello":
            last, is_resumed = int(message["seq_no"]), message["resume"] == "ok"
            if self.after is None or not is_resumed or last < self.after:
                self.after = last
            return Connected(last, message["runner_id"], message["daemon_version"], is_resumed)
        if kind == "ack":
            waiting = self._acks.pop(str(message.get("id")), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            return None
        if kind == "event":
            message["event"] = by_place(message["event"])
            self.after = int(message["event"]["seq_no"])
        return LiveMessage(kind, message)

    def _drop(self, reason: str) -> None:
        self._socket = None
        for waiting in self._acks.values():
            if not waiting.done():
                waiting.set_exception(NoDaemon(f"the connection to the daemon was lost before it answered ({reason})"))
        self._acks.clear()

    async def command(self, name: str, **args: Any) -> Any:
        """Send a command and wait for its result; `Refused` has the daemon's error message."""
        if self._socket is None:
            raise NoDaemon("not connected to the daemon")
        command_id = str(next(self._ids))
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._acks[command_id] = waiting
        try:
            await self._socket.send(json.dumps({"type": "command", "id": command_id, "name": name, "args": args}))
        except ConnectionClosed:
            self._acks.pop(command_id, None)
            raise NoDaemon("the connection to the daemon was lost") from None
        ack = await waiting
        if not ack["ok"]:
            raise Refused(str(ack.get("error", {}).get("message", "refused")))
        return ack.get("result")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()


def read_frame(frame: str | bytes) -> list[dict[str, Any]]:
    """The messages of a frame: one, or a list of them."""
    value = msgspec.json.decode(frame)
    return value if isinstance(value, list) else [value]


def _raise_if_refused(error: Exception) -> None:
    """Raise `Refused` when the daemon rejected the upgrade: another attempt would be rejected too."""
    if isinstance(error, InvalidStatus) and error.response.status_code in (401, 403, 404, 421):
        raise Refused(f"the daemon refuses the connection ({error.response.status_code})") from None


def _raise_if_final(closed: ClientConnection | ConnectionClosed) -> None:
    """Raise `Refused` for a close code that another attempt cannot change."""
    if isinstance(closed, ConnectionClosed):
        code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, None)
    else:
        code, reason = closed.close_code, closed.close_reason
    if code in FINAL:
        raise Refused(f"{FINAL[code]}: {reason or ''}")
