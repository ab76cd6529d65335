"""Streams from machines, opened on demand: terminals with their own credit, and the text that agents write now."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Hashable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from quarterdeck.errors import Refused
from quarterdeck.hub.runners.machine_registry import MachineState
from quarterdeck.link.messages import CloseStream, OpenStream, RunnerStream, StreamCredit

CREDIT = 256 * 1024
"""Bytes of a stream that a machine may send before more are asked for."""
FRAME_BYTES = 256
"""What the frame of a piece of text may add to it."""
RUNNING = frozenset({"starting", "up"})


class StreamReceiver(Protocol):
    """The end of a stream at the hub."""

    session_id: str

    def receive(self, kind: str, data: Any) -> None: ...


class OpenedStream(Struct, eq=False):
    """One stream: its number, its machine, and who receives it."""

    number: int
    state: MachineState
    receiver: StreamReceiver


class MachineStreams:
    """Every open stream."""

    def __init__(self) -> None:
        self._streams: dict[int, OpenedStream] = {}
        self._numbers = itertools.count(1)

    def open(
        self, state: MachineState, receiver: StreamReceiver, kind: str, cols: int = 120, rows: int = 40
    ) -> OpenedStream:
        """Ask a machine for a stream."""
        if state.connection is None:
            raise Refused(f"{state.name} is away")
        stream = OpenedStream(next(self._numbers), state, receiver)
        self._streams[stream.number] = stream
        message = OpenStream(
            stream=stream.number, session_id=receiver.session_id, kind=kind, credit=CREDIT, cols=cols, rows=rows
        )
        state.connection.send(message)
        return stream

    def credit(self, stream: OpenedStream, size: int) -> None:
        """Let the machine send this many bytes more."""
        connection = stream.state.connection
        if connection is not None and stream.number in self._streams and size:
            connection.send(StreamCredit(stream=stream.number, bytes=size))

    def close(self, stream: OpenedStream) -> None:
        """End a stream."""
        if self._streams.pop(stream.number, None) is not None and stream.state.connection is not None:
            stream.state.connection.send(CloseStream(stream=stream.number))

    def receive(self, state: MachineState, message: RunnerStream) -> None:
        """A part of a stream. One that was closed meanwhile is dropped."""
        stream = self._streams.get(message.stream)
        if stream is None or stream.state is not state:
            return
        if message.kind == "end":
            del self._streams[message.stream]
        stream.receiver.receive(message.kind, message.data)

    def end_all(self, state: MachineState, reason: str) -> None:
        """The connection of a machine has ended, and its streams with it."""
        for stream in [one for one in self._streams.values() if one.state is state]:
            del self._streams[stream.number]
            stream.receiver.receive("end", reason)


class TerminalColumns(Struct, frozen=True):
    """The parts of a session that tell its terminal."""

    mode: str = ""
    owned: dict[str, Any] | None = None


_read_terminal = msgspec.json.Decoder(TerminalColumns).decode

Find = Callable[[str], tuple[MachineState, bytes] | None]
"""Finds a live session with its machine, if it is there once."""


class MachineScreen:
    """A view of a terminal on another machine. Output that the surface has not read yet is not asked for."""

    def __init__(self, streams: MachineStreams, session_id: str, seen: Callable[[bytes], None]) -> None:
        self.session_id = session_id
        self.stream: OpenedStream | None = None
        self._streams = streams
        self._seen = seen
        self._is_paused = False
        self._owed = 0

    def receive(self, kind: str, data: Any) -> None:
        if kind != "terminal" or not isinstance(data, str):
            return
        content = base64.b64decode(data)
        self._owed += len(content)
        self._seen(content)
        if not self._is_paused:
            self._pay()

    def _pay(self) -> None:
        if self.stream is not None and self._owed:
            self._streams.credit(self.stream, self._owed)
            self._owed = 0

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        self._pay()

    async def write(self, data: bytes) -> None:
        """Not used: keystrokes go to the machine as commands, with the name of their person."""
        raise Refused("type with the command terminal_input")

    async def resize(self, cols: int, rows: int) -> None:
        """Not used: sizes go to the machine as commands."""

    async def close(self) -> None:
        if self.stream is not None:
            self._streams.close(self.stream)
            self.stream = None


class HubTerminals:
    """The terminals of the sessions of all machines."""

    def __init__(self, streams: MachineStreams, find: Find) -> None:
        self._streams = streams
        self._find = find

    def terminal(self, session_id: str) -> Hashable | None:
        found = self._find(session_id)
        if found is None or not found[0].is_connected:
            return None
        session = _read_terminal(found[1])
        owned = session.owned or {}
        runs = session.mode in ("pty", "tmux") and owned.get("status") in RUNNING
        return (found[0].runner_id, owned.get("launched_at")) if runs else None

    async def view(self, session_id: str, cols: int, rows: int, seen: Callable[[bytes], None]) -> MachineScreen:
        found = self._find(session_id)
        if found is None:
            raise Refused(f"no such session: {session_id}")
        screen = MachineScreen(self._streams, session_id, seen)
        screen.stream = self._streams.open(found[0], screen, "terminal", cols, rows)
        return screen


class TextReceiver:
    """What an agent writes now, for the surfaces that follow its session."""

    def __init__(self, streams: MachineStreams, session_id: str, show: Callable[[str, str, Any], None]) -> None:
        self.session_id = session_id
        self.stream: OpenedStream | None = None
        self.has_ended = False
        self._streams = streams
        self._show = show

    def receive(self, kind: str, data: Any) -> None:
        if kind == "end":
            self.has_ended = True
            return
        self._show(self.session_id, kind, data)
        if self.stream is not None:
            self._streams.credit(self.stream, len(msgspec.json.encode(data)) + FRAME_BYTES)


class LiveTexts:
    """The live text of each session that a surface follows: a stream from its machine as long as one does."""

    def __init__(self, streams: MachineStreams, find: Find, show: Callable[[str, str, Any], None]) -> None:
        self._streams = streams
        self._find = find
        self._show = show
        self._following: dict[str, TextReceiver] = {}

    def follow_only(self, session_ids: set[str]) -> None:
        """Follow these sessions, and no others. A stream that has ended is opened again."""
        for session_id, receiver in list(self._following.items()):
            if receiver.has_ended or session_id not in session_ids:
                del self._following[session_id]
                if receiver.stream is not None:
                    self._streams.close(receiver.stream)
        for session_id in sorted(session_ids - self._following.keys()):
            found = self._find(session_id)
            if found is not None and found[0].is_connected:
                receiver = self._following[session_id] = TextReceiver(self._streams, session_id, self._show)
                receiver.stream = self._streams.open(found[0], receiver, "text")
