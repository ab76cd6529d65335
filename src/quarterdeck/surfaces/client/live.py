"""Following a daemon over `/ws`: a snapshot, then everything that changes, over restarts and gaps."""

from __future__ import annotations

import asyncio
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

PROTOCOL = 2
FIRST_WAIT = 0.2
LONGEST_WAIT = 5.0
FRAME_BYTES = 64 * 1024 * 1024
FINAL = {4401: "the token is not accepted", 4403: "this surface may not connect", 4406: "another protocol is spoken"}


class Connected(Struct, frozen=True):
    """We are in. `resumed` is false when events between our last one and `seq_no` are no longer kept."""

    seq_no: int
    runner_id: str
    daemon_version: str
    resumed: bool


class Lost(Struct, frozen=True):
    """The daemon is away; we try again."""

    reason: str


class Message(Struct, frozen=True):
    """One message of the daemon: snapshot, event, request, session, stream, notice."""

    kind: str
    body: dict[str, Any]


class Live:
    """Follows one daemon. `where` gives its URL and token anew at each attempt, since a restart may change both."""

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

    async def follow(self) -> AsyncGenerator[Connected | Lost | Message]:
        """Everything, for ever; raises Refused when trying again is no use."""
        wait = FIRST_WAIT
        reason = "nobody follows it any more"
        try:
            while True:
                try:
                    async with aclosing(self._once()) as connection:
                        async for said in connection:
                            wait = FIRST_WAIT if isinstance(said, Connected) else wait
                            yield said
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

    async def _once(self) -> AsyncGenerator[Connected | Message]:
        url, token = self._where()
        address = f"{url.replace('http', 'ws', 1)}/ws"
        async with connect(address, max_size=FRAME_BYTES, compression=None, proxy=None) as socket:
            hello = {"type": "hello", "protocol": PROTOCOL, "client": self._client, "version": __version__}
            hello |= {"token": token, "after": self.after, "topics": self._topics}
            await socket.send(json.dumps(hello))
            self._socket = socket
            try:
                async for frame in socket:
                    for message in read_frame(frame):
                        said = self._read(message)
                        if said is not None:
                            yield said
            except ConnectionClosed as closed:
                _raise_if_final(closed)
            _raise_if_final(socket)

    def _read(self, message: dict[str, Any]) -> Connected | Message | None:
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
            self.after = int(message["event"]["seq_no"])
        return Message(kind, message)

    def _drop(self, reason: str) -> None:
        self._socket = None
        for waiting in self._acks.values():
            if not waiting.done():
                waiting.set_exception(NoDaemon(f"the daemon went away before it answered ({reason})"))
        self._acks.clear()

    async def command(self, name: str, **args: Any) -> Any:
        """Order something and wait how it ended; Refused carries the daemon's own words."""
        if self._socket is None:
            raise NoDaemon("not connected to the daemon")
        command_id = str(next(self._ids))
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._acks[command_id] = waiting
        try:
            await self._socket.send(json.dumps({"type": "command", "id": command_id, "name": name, "args": args}))
        except ConnectionClosed:
            self._acks.pop(command_id, None)
            raise NoDaemon("the daemon went away") from None
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
    """A refusal at the upgrade stays one, too."""
    if isinstance(error, InvalidStatus) and error.response.status_code in (401, 403, 404, 421):
        raise Refused(f"the daemon refuses the connection ({error.response.status_code})") from None


def _raise_if_final(closed: ClientConnection | ConnectionClosed) -> None:
    """Some refusals stay refusals however often we ask."""
    if isinstance(closed, ConnectionClosed):
        code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, None)
    else:
        code, reason = closed.close_code, closed.close_reason
    if code in FINAL:
        raise Refused(f"{FINAL[code]}: {reason or ''}")
