"""One who speaks to a terminal's host: what he says, and how far he has seen. Standard library only."""

from __future__ import annotations

import _socket  # without what `socket` adds, which would be a tenth of our memory
import os
import select
import struct

from quarterdeck.sessions.host import supervisor as keeper
from quarterdeck.sessions.host.frames import (
    HEAD,
    INTERRUPT,
    OUTPUT,
    PROMPT,
    SCREEN,
    STOP,
    TAKEN,
    TYPE,
    VIEW,
    BadFrame,
    Frames,
    frame,
    note,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from quarterdeck.sessions.host.replay_buffer import Ring

LETTERS = VIEW + TYPE + PROMPT + INTERRUPT + STOP + TAKEN
PIECE = 64 * 1024
MAX_UNSENT = 256 * 1024
TAG = b"QUARTERDECK_TAG="
CREDENTIALS = struct.Struct("3i")


class Gone(Exception):
    """The connection has ended, or what came over it was wrong."""


class Peer:
    """A connection. What it is shown stays in the ring: of its own it has less than a piece of it."""

    def __init__(self, connection: _socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self.number = connection.fileno()
        self._frames = Frames(LETTERS)
        self._unsent = bytearray()
        self.size: tuple[int, int] | None = None
        self._at = -1
        self.types = False
        self.blocked = self.minded = 0
        self.patience_until = 0.0

    @property
    def looks(self) -> bool:
        return self._at >= 0

    def read(self) -> Iterator[tuple[bytes, bytes]]:
        try:
            received = self._connection.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            raise Gone from None
        if not received:
            raise Gone
        try:
            yield from self._frames.feed(received)
        except BadFrame:
            raise Gone from None

    def tell(self, words: bytes) -> None:
        if len(self._unsent) + len(words) > MAX_UNSENT:
            raise Gone
        self._unsent += words

    def show(self, ring: Ring) -> bool:
        """The screen as it is; whether it may be wrong until the program draws it again."""
        self._at, safe = ring.screen_from()
        prelude = ring.prelude()
        self.tell(note(SCREEN, {"bytes": len(prelude) + ring.end - self._at}) + frame(OUTPUT, prelude))
        return not safe

    def push(self, ring: Ring) -> None:
        """Send all there is, as far as it goes."""
        self.blocked = 0
        try:
            while self._unsent or (self.looks and self._at < ring.end):
                if self._unsent:
                    del self._unsent[: self._connection.send(self._unsent)]
                elif self._at < ring.start:
                    self.show(ring)
                else:
                    self._piece(ring)
        except BlockingIOError:
            self.blocked = select.POLLOUT
        except OSError:
            raise Gone from None

    def _piece(self, ring: Ring) -> None:
        parts = ring.parts(self._at, PIECE)
        size = sum(map(len, parts))
        whole: list[bytes | memoryview] = [HEAD.pack(OUTPUT, size), *parts]
        sent = self._connection.sendmsg(whole)
        self._at += size
        if sent < HEAD.size + size:
            self._unsent += b"".join(whole)[sent:]

    def has_seen(self, ring: Ring) -> bool:
        return not self._unsent and (not self.looks or self._at == ring.end)

    def is_awaited(self, ring: Ring, now: float, patience_seconds: float) -> bool:
        """Whether the program is to wait for it: it is far behind, and has not been for long."""
        behind = ring.end - self._at if self.looks else 0
        if behind < ring.size // 2:
            self.patience_until = 0.0
        elif not self.patience_until:
            self.patience_until = now + patience_seconds
        return self.patience_until > now

    def close(self) -> None:
        self._connection.close()


def may_speak(connection: _socket.socket, ancestors: frozenset[tuple[int, str]]) -> bool:
    """Our own user alone, and no agent of ours: what runs below one has a tag in the environment of somebody above it,
    unless that one is above us too."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    pid, uid, _ = CREDENTIALS.unpack(connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, CREDENTIALS.size))
    if uid != os.geteuid():
        return False
    return not any(is_tagged(above) for above, start in line_of(pid) if (above, start) not in ancestors)


def line_of(pid: int) -> Iterator[tuple[int, str]]:
    """A process and those above it."""
    while pid > 1 and (proc := keeper.look(pid)):
        yield proc.pid, proc.start
        pid = proc.parent


def is_tagged(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return any(word.startswith(TAG) for word in file.read().split(b"\0"))
    except OSError:
        return False
