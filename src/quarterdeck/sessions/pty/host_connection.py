"""One connection to a terminal's host, and what looks at a terminal through it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from typing import cast

from quarterdeck.errors import Refused
from quarterdeck.sessions.host.frames import (
    ANSWER,
    OUTPUT,
    SCREEN,
    STATE,
    TYPE,
    VIEW,
    BadFrame,
    Frames,
    frame,
    note,
    read_note,
)

LETTERS = STATE + SCREEN + OUTPUT + ANSWER
PIECE = 64 * 1024
LONGEST_QUESTION = 256
QUESTIONS = re.compile(
    rb"\x1b(?:\[[>=]?[0-9;]*c|\[\??[0-9;]*n|\[\?u|\[>[0-9;]*q|\[[?0-9;]*\$p|\[[0-9;]*t|Z"
    rb"|\](?:1[0-9]|4;[0-9]+|52)(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)|P[$+]q[^\x1b]*\x1b\\)"
)
"""What a terminal would answer, or do for a second time: its state, its colours, its clipboard."""


class Link(asyncio.Protocol):
    """Frames to and from a host. `hear` gets each, `lost` is called at the end."""

    def __init__(self, hear: Callable[[bytes, bytes], None], lost: Callable[[], None]) -> None:
        self._hear, self._lost = hear, lost
        self._frames = Frames(LETTERS)
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def over(
        cls, connection: socket.socket, hear: Callable[[bytes, bytes], None], lost: Callable[[], None]
    ) -> Link:
        loop = asyncio.get_running_loop()
        _, link = await loop.create_unix_connection(lambda: cls(hear, lost), sock=connection)
        return link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one by its deeds alone

    def data_received(self, data: bytes) -> None:
        try:
            for letter, body in self._frames.feed(data):
                self._hear(letter, body)
        except BadFrame:
            self.close()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self._lost()

    async def send(self, words: bytes) -> None:
        """Once there is room for it; Refused when the host is gone."""
        await self._writable.wait()
        if self._transport is None or self._transport.is_closing():
            raise Refused("the terminal has ended")
        self._transport.write(words)

    def hold(self, held: bool) -> None:
        """Read nothing for a while, or go on."""
        if self._transport is not None and not self._transport.is_closing():
            if held:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class HostViewer:
    """Looks at a terminal. Who cannot follow calls `pause`, and `resume` later: the host keeps what comes, and when
    that is too much the screen is shown anew. `whole` is called when the screen was shown, `lost` at the end."""

    def __init__(
        self,
        seen: Callable[[bytes], None],
        lost: Callable[[], None] = lambda: None,
        whole: Callable[[], None] = lambda: None,
    ) -> None:
        self._seen, self._lost, self._whole = seen, lost, whole
        self._link: Link | None = None
        self._replay = Replay()

    async def open(self, connection: socket.socket, cols: int, rows: int) -> HostViewer:
        self._link = await Link.over(connection, self._hear, self._lost)
        await self.resize(cols, rows)
        return self

    async def write(self, data: bytes) -> None:
        for at in range(0, len(data), PIECE):
            await self._send(frame(TYPE, data[at : at + PIECE]))

    async def resize(self, cols: int, rows: int) -> None:
        await self._send(note(VIEW, {"cols": cols, "rows": rows}))

    async def close(self) -> None:
        if self._link is not None:
            self._link.close()

    def pause(self) -> None:
        if self._link is not None:
            self._link.hold(True)

    def resume(self) -> None:
        if self._link is not None:
            self._link.hold(False)

    async def _send(self, words: bytes) -> None:
        if self._link is None:
            raise Refused("the terminal has ended")
        await self._link.send(words)

    def _hear(self, letter: bytes, body: bytes) -> None:
        if letter == OUTPUT:
            if not self._replay.left:
                self._seen(body)
                return
            self._seen(self._replay.feed(body))
            if not self._replay.left:
                self._whole()
        elif letter == SCREEN:
            self._replay.begin(int(read_note(body)["bytes"]))


class Replay:
    """What a terminal has shown before goes to a viewer without the questions in it, which were answered long ago."""

    def __init__(self) -> None:
        self.left = 0
        self._rest = b""

    def begin(self, count: int) -> None:
        self.left, self._rest = count, b""

    def feed(self, said: bytes) -> bytes:
        self.left = max(0, self.left - len(said))
        said = QUESTIONS.sub(b"", self._rest + said)
        self._rest = b""
        cut = said.rfind(b"\x1b", max(0, len(said) - LONGEST_QUESTION)) if self.left else -1
        if cut >= 0:
            said, self._rest = said[:cut], said[cut:]
        return said
