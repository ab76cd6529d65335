"""One connection to a terminal's host, and the viewer of a terminal that uses it."""

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
    json_frame,
    read_json_body,
)

LETTERS = STATE + SCREEN + OUTPUT + ANSWER
CHUNK = 64 * 1024
# A sequence cut in two is held back until its end comes; no query is longer.
MAX_QUERY = 256
QUERIES = re.compile(
    rb"\x1b(?:\[[>=]?[0-9;]*c|\[\??[0-9;]*n|\[\?u|\[>[0-9;]*q|\[[?0-9;]*\$p|\[[0-9;]*t|Z"
    rb"|\](?:1[0-9]|4;[0-9]+|52)(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)|P[$+]q[^\x1b]*\x1b\\)"
)
"""Sequences that a terminal answers, or must not repeat: queries of its state and colours, writes to its clipboard."""


class HostConnection(asyncio.Protocol):
    """Frames to and from a host. `on_frame` gets each frame, `on_close` is called at the end."""

    def __init__(
        self, on_frame: Callable[[bytes, bytes], None], on_close: Callable[[], None], frames: Frames | None = None
    ) -> None:
        self._on_frame, self._on_close = on_frame, on_close
        self._frames = frames or Frames(LETTERS)
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def connect(
        cls,
        connection: socket.socket,
        on_frame: Callable[[bytes, bytes], None],
        on_close: Callable[[], None],
        frames: Frames | None = None,
    ) -> HostConnection:
        loop = asyncio.get_running_loop()
        _, link = await loop.create_unix_connection(lambda: cls(on_frame, on_close, frames), sock=connection)
        return link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's class only behaves like one

    def data_received(self, data: bytes) -> None:
        try:
            for letter, body in self._frames.feed(data):
                self._on_frame(letter, body)
        except BadFrame:
            self.close()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self._on_close()

    async def send(self, data: bytes) -> None:
        """Send once there is room in the buffer; Refused if the host has gone."""
        await self._writable.wait()
        if self._transport is None or self._transport.is_closing():
            raise Refused("the session has ended; resume it first")
        self._transport.write(data)

    def send_soon(self, data: bytes) -> None:
        """Send without waiting for room; does nothing if the host has gone."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def set_paused(self, paused: bool) -> None:
        """Stop reading, or continue."""
        if self._transport is not None and not self._transport.is_closing():
            if paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class HostViewer:
    """Views a terminal. A caller that cannot keep up calls `pause`, and `resume` later: the host keeps the output, and
    draws the whole screen again if that is too much. `on_screen` is called when the screen is complete."""

    _link: HostConnection

    def __init__(self, on_output: Callable[[bytes], None], on_screen: Callable[[], None]) -> None:
        self._on_output, self._on_screen = on_output, on_screen
        self._replay = ReplayFilter()

    @classmethod
    async def open(
        cls,
        connection: socket.socket,
        size: tuple[int, int],
        on_output: Callable[[bytes], None],
        on_close: Callable[[], None] = lambda: None,
        on_screen: Callable[[], None] = lambda: None,
    ) -> HostViewer:
        """View through this connection; `on_close` is called at its end."""
        viewer = cls(on_output, on_screen)
        viewer._link = await HostConnection.connect(connection, viewer._receive, on_close)
        await viewer.resize(*size)
        return viewer

    async def write(self, data: bytes) -> None:
        for at in range(0, len(data), CHUNK):
            await self._link.send(frame(TYPE, data[at : at + CHUNK]))

    async def resize(self, cols: int, rows: int) -> None:
        await self._link.send(json_frame(VIEW, {"cols": cols, "rows": rows}))

    async def close(self) -> None:
        self._link.close()

    def pause(self) -> None:
        self._link.set_paused(True)

    def resume(self) -> None:
        self._link.set_paused(False)

    def _receive(self, letter: bytes, body: bytes) -> None:
        if letter == OUTPUT:
            if not self._replay.left:
                self._on_output(body)
                return
            self._on_output(self._replay.feed(body))
            if not self._replay.left:
                self._on_screen()
        elif letter == SCREEN:
            self._replay.begin(int(read_json_body(body)["bytes"]))


class ReplayFilter:
    """Removes queries from replayed output: a viewer's terminal would answer them, and the program got its answers
    long ago."""

    def __init__(self) -> None:
        self.left = 0
        self._rest = b""

    def begin(self, count: int) -> None:
        self.left, self._rest = count, b""

    def feed(self, output: bytes) -> bytes:
        self.left = max(0, self.left - len(output))
        output = QUERIES.sub(b"", self._rest + output)
        self._rest = b""
        cut = output.rfind(b"\x1b", max(0, len(output) - MAX_QUERY)) if self.left else -1
        if cut >= 0:
            output, self._rest = output[:cut], output[cut:]
        return output
