"""The clients of a host: who may connect, their frames, and the position of a viewer in the output of a terminal.
Standard library only."""

from __future__ import annotations

import _socket  # `socket` would add a tenth to the host's memory
import os
import select
import struct

from quarterdeck.sessions.host import supervisor
from quarterdeck.sessions.host.frames import (
    ACKNOWLEDGED,
    HEAD,
    INTERRUPT,
    MAX_BODY,
    OUTPUT,
    PROMPT,
    SCREEN,
    STOP,
    TYPE,
    VIEW,
    BadFrame,
    Frames,
    frame,
    json_frame,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from quarterdeck.sessions.host.replay_buffer import ReplayBuffer

LETTERS = VIEW + TYPE + PROMPT + INTERRUPT + STOP + ACKNOWLEDGED
CHUNK = 64 * 1024
# A client that sends commands and never reads the answers is dropped here.
MAX_UNSENT = 256 * 1024
TAG = b"QUARTERDECK_TAG="
CREDENTIALS = struct.Struct("3i")


class PeerGone(Exception):
    """The connection has ended or received something invalid."""


class Connection:
    """A client's socket, and the frames that come from it: of these letters, and of at most this size."""

    def __init__(self, connection: _socket.socket, letters: bytes, most: int = MAX_BODY, chunk: int = CHUNK) -> None:
        connection.setblocking(False)
        self._connection, self._chunk = connection, chunk
        self.number = connection.fileno()
        self._frames = Frames(letters, most)

    def read(self) -> Iterator[tuple[bytes, bytes]]:
        try:
            received = self._connection.recv(self._chunk)
        except BlockingIOError:
            return
        except OSError:
            raise PeerGone from None
        if not received:
            raise PeerGone
        try:
            yield from self._frames.feed(received)
        except BadFrame:
            raise PeerGone from None

    def close(self) -> None:
        self._connection.close()


class Peer(Connection):
    """A client of a terminal. Output for it stays in the replay buffer until it is sent: its own buffer holds less than
    a chunk, so that many slow clients cost little memory."""

    def __init__(self, connection: _socket.socket) -> None:
        super().__init__(connection, LETTERS)
        self._unsent = bytearray()
        self.size: tuple[int, int] | None = None
        self._at = -1
        self.types = False
        self.blocked = self.polled_events = 0
        self.patience_until = 0.0

    @property
    def is_viewer(self) -> bool:
        return self._at >= 0

    def queue(self, data: bytes) -> None:
        if len(self._unsent) + len(data) > MAX_UNSENT:
            raise PeerGone
        self._unsent += data

    def show(self, ring: ReplayBuffer) -> bool:
        """Queue the current screen. True if it may be wrong until the program redraws it."""
        self._at, safe = ring.screen_start()
        prelude = ring.prelude()
        self.queue(json_frame(SCREEN, {"bytes": len(prelude) + ring.end - self._at}) + frame(OUTPUT, prelude))
        return not safe

    def push(self, ring: ReplayBuffer) -> None:
        """Send as much as the socket takes."""
        self.blocked = 0
        try:
            while self._unsent or (self.is_viewer and self._at < ring.end):
                if self._unsent:
                    del self._unsent[: self._connection.send(self._unsent)]
                elif self._at < ring.start:
                    self.show(ring)
                else:
                    self._send_chunk(ring)
        except BlockingIOError:
            self.blocked = select.POLLOUT
        except OSError:
            raise PeerGone from None

    def _send_chunk(self, ring: ReplayBuffer) -> None:
        parts = ring.parts(self._at, CHUNK)
        size = sum(map(len, parts))
        whole: list[bytes | memoryview] = [HEAD.pack(OUTPUT, size), *parts]
        sent = self._connection.sendmsg(whole)
        self._at += size
        if sent < HEAD.size + size:
            self._unsent += b"".join(whole)[sent:]

    def has_seen(self, ring: ReplayBuffer) -> bool:
        return not self._unsent and (not self.is_viewer or self._at == ring.end)

    def should_wait_for(self, ring: ReplayBuffer, now: float, patience_seconds: float) -> bool:
        """True if the program must wait for this viewer: it is far behind, and not for long."""
        behind = ring.end - self._at if self.is_viewer else 0
        if behind < ring.size // 2:
            self.patience_until = 0.0
        elif not self.patience_until:
            self.patience_until = now + patience_seconds
        return self.patience_until > now


def accept(listener: _socket.socket, ancestors: frozenset[tuple[int, str]]) -> _socket.socket | None:
    """The next client, if it may connect."""
    try:
        accepted, _ = listener._accept()  # type: ignore[attr-defined] # the part of `accept` that is C
    except OSError:
        return None
    connection = _socket.socket(fileno=accepted)
    if may_connect(connection, ancestors):
        return connection
    connection.close()
    return None


def may_connect(connection: _socket.socket, ancestors: frozenset[tuple[int, str]]) -> bool:
    """True for clients of the same user that do not run below an owned agent. Below one, the client or an ancestor has
    the tag in its environment; ancestors of the host itself do not count, since an agent may have started the
    daemon."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    pid, uid, _ = CREDENTIALS.unpack(connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, CREDENTIALS.size))
    if uid != os.geteuid():
        return False
    return not any(is_tagged(above) for above, start in ancestry(pid) if (above, start) not in ancestors)


def ancestry(pid: int) -> Iterator[tuple[int, str]]:
    """A process and its ancestors."""
    while pid > 1 and (proc := supervisor.read_process(pid)):
        yield proc.pid, proc.start
        pid = proc.parent


def is_tagged(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(word.startswith(TAG) for word in file.read().split(b"\0"))
    except OSError:
        return False
