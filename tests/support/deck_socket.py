"""A key deck, and an editor, on the WebSocket of a real daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.support.daemon import Daemon, Json
from tests.support.ws_client import Socket, hello, opened


class DeckSocket:
    """A deck that draws the model: `model` is the last one it received."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.model: Json = {}
        self._n = 0

    async def read_model(self) -> Json:
        """The next model."""
        self.model = (await self.socket.until("render"))["model"]
        return self.model

    async def shows(self, is_right: Callable[[Json], bool]) -> Json:
        """Read models until one is right."""
        while not is_right(self.model):
            await self.read_model()
        return self.model

    async def command(self, name: str, **args: Any) -> Json:
        """Send a command; its answer. Models that come meanwhile are kept."""
        self._n += 1
        await self.socket.send({"type": "command", "id": self._n, "name": name, "args": args})
        while True:
            message = await self.socket.read()
            if message["type"] == "render":
                self.model = message["model"]
            elif message["type"] == "ack" and message["id"] == self._n:
                return message

    def key(self, name: str) -> Json:
        slots: list[Json] = self.model["keypad"]["slots"]
        return next(key for key in slots if name in (key["prompt_id"], key["action"]))

    async def press(self, name: str, **more: Any) -> Json:
        """Press the key with this prompt or action, as it shows."""
        key = self.key(name)
        return await self.command("keypad_press", **{"slot": key["slot"], "revision": key["revision"], **more})


@asynccontextmanager
async def connected_deck(daemon: Daemon, token: str | None = None) -> AsyncIterator[DeckSocket]:
    """A deck after its first model."""
    async with opened(daemon) as socket:
        await socket.send(hello(token or daemon.token, topics=["render"], client="deck"))
        deck = DeckSocket(socket)
        await deck.read_model()
        yield deck


class EditorSocket:
    """An editor: it reports terminals, and answers commands as `answers` says."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.commands: list[Json] = []
        self._n = 0

    async def reports(self, *terminals: Json) -> None:
        self._n += 1
        args = {"terminals": list(terminals)}
        await self.socket.send({"type": "command", "id": self._n, "name": "terminals_snapshot", "args": args})
        answer = await self.socket.until("ack")
        assert answer["ok"], answer

    async def acknowledges(self, ok: bool = True, error: str | None = None) -> Json:
        """Answer the next command."""
        command = await self.socket.until("command")
        self.commands.append(command)
        await self.socket.send({"type": "ack", "id": command["id"], "ok": ok, "error": error})
        return command


@asynccontextmanager
async def connected_editor(daemon: Daemon, client_id: str = "code-1") -> AsyncIterator[EditorSocket]:
    async with opened(daemon) as socket:
        first = hello(daemon.token, topics=[], client="vscode")
        await socket.send({**first, "client_id": client_id, "capabilities": ["commands"]})
        await socket.until("snapshot")
        yield EditorSocket(socket)


async def hook(daemon: Daemon, payload: Json) -> tuple[int, bytes]:
    """A hook call that may wait."""
    return await asyncio.to_thread(daemon.hook, payload)
