"""The terminals that one connection watches: output is sent at the speed of the reader."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import struct
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from quarterdeck.api.backend import SessionBackend
from quarterdeck.api.http.endpoint import Id, endpoint
from quarterdeck.api.http.error_responses import ApiError, invalid
from quarterdeck.api.live.topics import MOST_TERMINALS, stream_sessions
from quarterdeck.api.live.ws_messages import AnyServerMessage, StreamMessage, StreamOpen
from quarterdeck.errors import Refused
from quarterdeck.sessions.launcher import ScreenViewer

CHUNK = 64 * 1024
MOST_UNSENT = 256 * 1024
"""A reader with more unsent bytes gets nothing new until it has caught up, and then the current screen."""
POLL_SECONDS = 0.25
COLS, ROWS = 120, 40
BINARY_VERSION = 1
_HEADER = struct.Struct(">BIQ")
CREDIT = 1024 * 1024
"""Bytes of binary frames that a client may not have processed yet."""
MOST_TYPED = 64 * 1024

Size = Annotated[int, Meta(ge=2, le=1000)]


class TerminalInput(Struct, kw_only=True, forbid_unknown_fields=True):
    """Keystrokes, in base64."""

    session_id: Id
    data: Annotated[str, Meta(max_length=MOST_TYPED)]


class TerminalResize(Struct, kw_only=True, forbid_unknown_fields=True):
    session_id: Id
    cols: Size
    rows: Size


class TerminalBackend(Protocol):
    """The terminals of sessions."""

    def terminal(self, session_id: str) -> Hashable | None:
        """The present terminal of a session, equal as long as it is the same one; None when it has none."""

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> ScreenViewer:
        """Open a view of it; `seen` receives its output. Raises `Refused` when there is none."""
        ...


class MachineTerminals:
    """The terminals of owned sessions on this machine."""

    def __init__(self, sessions: SessionBackend) -> None:
        self._sessions = sessions

    def terminal(self, session_id: str) -> Hashable | None:
        session = self._sessions.get(session_id)
        has_terminal = session is not None and session.mode in ("pty", "tmux") and session.runs_here
        return session.owned.launched_at if session is not None and has_terminal and session.owned else None

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> ScreenViewer:
        session = self._sessions.get(session_id)
        if session is None:
            raise Refused(f"no such session: {session_id}")
        return await self._sessions.view(session, cols, rows, seen)


class TerminalOutlet(Protocol):
    """The sending side of a connection."""

    async def send(self, message: AnyServerMessage) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...


class Credit:
    """The bytes that a client may be sent before it says that it has processed some."""

    def __init__(self) -> None:
        self._left = CREDIT
        self._has_some = asyncio.Event()
        self._has_some.set()

    def add(self, size: int) -> None:
        """The client has processed this many bytes."""
        self._left = min(CREDIT, self._left + size)
        if self._left > 0:
            self._has_some.set()

    async def wait(self) -> int:
        """Wait for credit; the bytes that may be sent now."""
        await self._has_some.wait()
        return self._left

    def use(self, size: int) -> None:
        """Send this many bytes."""
        self._left -= size
        if self._left <= 0:
            self._has_some.clear()


class Terminals:
    """Streams the terminals of the sessions whose `streams` topic a connection subscribes to: as binary frames to a
    client that offers it, else as messages in base64."""

    def __init__(self, terminals: TerminalBackend, outlet: TerminalOutlet) -> None:
        self.credit = Credit()
        self._terminals = terminals
        self._outlet = outlet
        self._streams: dict[str, _ScreenStream] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._following: dict[str, asyncio.Task[None]] = {}
        self._are_binary = False
        self._numbers = itertools.count(1)

    def start(self, tasks: asyncio.TaskGroup, *, are_binary: bool) -> None:
        """Run what follows in these tasks."""
        self._tasks, self._are_binary = tasks, are_binary

    def follow_only(self, topics: frozenset[str]) -> None:
        """Follow the terminals of these topics, at most `MOST_TERMINALS`, and no others."""
        wanted = set(stream_sessions(topics))
        for session_id in self._following.keys() - wanted:
            self._following.pop(session_id).cancel()
        free = MOST_TERMINALS - len(self._following)
        for session_id in sorted(wanted - self._following.keys())[:free]:
            assert self._tasks is not None
            self._following[session_id] = self._tasks.create_task(self._follow(session_id))

    async def _follow(self, session_id: str) -> None:
        """Stream a session's terminal whenever it has one, until cancelled."""
        stream = self._streams[session_id] = _ScreenStream()
        try:
            while True:
                terminal = self._terminals.terminal(session_id)
                if terminal is not None:
                    with contextlib.suppress(Refused):
                        await self._show(session_id, stream, partial(self._is_shown, session_id, terminal))
                await asyncio.sleep(POLL_SECONDS)
        finally:
            if self._streams.get(session_id) is stream:
                del self._streams[session_id]

    def _is_shown(self, session_id: str, terminal: Hashable) -> bool:
        """True while it is the terminal that was opened, and not a later one of the same session."""
        return self._terminals.terminal(session_id) == terminal

    async def _show(self, session_id: str, stream: _ScreenStream, is_shown: Callable[[], bool]) -> None:
        """Stream one terminal from its current screen until it ends."""
        stream.clear()
        viewer = await self._terminals.view(session_id, stream.cols, stream.rows, stream.seen)
        stream.viewer = viewer
        try:
            await (self._send_binary if self._are_binary else self._send_text)(session_id, stream, is_shown)
        finally:
            stream.viewer = None
            with contextlib.suppress(Refused, OSError):
                await viewer.close()

    async def _send_text(self, session_id: str, stream: _ScreenStream, is_shown: Callable[[], bool]) -> None:
        await self._outlet.send(StreamMessage(session_id=session_id, kind="reset", data=""))
        while is_shown():
            data = await stream.take(CHUNK)
            if data:
                text = base64.b64encode(data).decode()
                await self._outlet.send(StreamMessage(session_id=session_id, kind="terminal", data=text))

    async def _send_binary(self, session_id: str, stream: _ScreenStream, is_shown: Callable[[], bool]) -> None:
        number, offset = next(self._numbers), 0
        await self._outlet.send(StreamOpen(stream=number, session_id=session_id, offset=offset))
        while is_shown():
            data = await stream.take(min(CHUNK, await self.credit.wait()))
            if data:
                self.credit.use(len(data))
                await self._outlet.send_bytes(binary_frame(number, offset, data))
                offset += len(data)

    async def write(self, typed: TerminalInput) -> None:
        """Type into a terminal that this connection watches."""
        try:
            data = base64.b64decode(typed.data, validate=True)
        except ValueError:
            raise invalid("data", "not base64") from None
        await self._act(typed.session_id, lambda viewer: viewer.write(data))

    async def resize(self, size: TerminalResize) -> None:
        """Set the size at which the terminal is displayed."""
        stream = self._streams.get(size.session_id)
        if stream is not None:
            stream.cols, stream.rows = size.cols, size.rows
        await self._act(size.session_id, lambda viewer: viewer.resize(size.cols, size.rows))

    async def _act(self, session_id: str, act: Callable[[ScreenViewer], Awaitable[None]]) -> None:
        stream = self._streams.get(session_id)
        if stream is None or stream.viewer is None:
            message = f"{session_id}: this connection does not show its terminal; subscribe to streams:{session_id}"
            raise ApiError(409, "no_terminal", message)
        try:
            await act(stream.viewer)
        except (Refused, OSError) as error:
            raise ApiError(409, "no_terminal", str(error)) from None


class _ScreenStream:
    """The output of a terminal that is not sent yet."""

    def __init__(self) -> None:
        self.cols, self.rows = COLS, ROWS
        self.viewer: ScreenViewer | None = None
        self._is_paused = False
        self._unsent = bytearray()
        self._has_output = asyncio.Event()

    def clear(self) -> None:
        self._unsent.clear()
        self._is_paused = False

    def seen(self, data: bytes) -> None:
        self._unsent += data
        self._has_output.set()
        self._pause(len(self._unsent) > MOST_UNSENT)

    def _pause(self, paused: bool) -> None:
        if self.viewer is not None and paused != self._is_paused:
            self._is_paused = paused
            if paused:
                self.viewer.pause()
            else:
                self.viewer.resume()

    async def take(self, most: int) -> bytes:
        """The next piece of output; empty when there was none for a second."""
        if not self._unsent:
            self._has_output.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._has_output.wait()
        data = bytes(self._unsent[:most])
        del self._unsent[: len(data)]
        self._pause(bool(self._unsent) and self._is_paused)
        return data


def binary_frame(stream: int, offset: int, data: bytes) -> bytes:
    """A frame of terminal output: version, number of the stream, position of its first byte, and the output."""
    return _HEADER.pack(BINARY_VERSION, stream, offset) + data


@endpoint("terminal_input")
async def terminal_input(terminals: Terminals, *, data: TerminalInput) -> None:
    """Type into a terminal that this connection watches."""
    await terminals.write(data)


@endpoint("terminal_resize")
async def terminal_resize(terminals: Terminals, *, data: TerminalResize) -> None:
    """Set the size at which a terminal that this connection watches is displayed."""
    await terminals.resize(data)
