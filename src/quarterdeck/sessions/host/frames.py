"""The frames between a terminal's host and whoever speaks to it: a letter, a length, and so many bytes.

To the host: VIEW (JSON cols and rows: look at it, or change the size; zeros: one look), TYPE (bytes as typed), PROMPT
(JSON id and text), INTERRUPT, STOP, TAKEN (the end was heard, the host may go). From the host: STATE (JSON, at first
and at every change), SCREEN (JSON bytes: so much of what follows makes the screen as it is; all before is void), OUTPUT
(bytes), ANSWER (JSON id and error). Standard library only: the host is a small process.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VIEW, TYPE, PROMPT, INTERRUPT, STOP, TAKEN = b"V", b"W", b"P", b"I", b"E", b"F"
STATE, SCREEN, OUTPUT, ANSWER = b"S", b"R", b"O", b"A"
HEAD = struct.Struct(">cI")
MAX_BODY = 1024 * 1024


class BadFrame(Exception):
    """What came is no frame, or one too long."""


def frame(letter: bytes, body: bytes = b"") -> bytes:
    return HEAD.pack(letter, len(body)) + body


def note(letter: bytes, said: dict[str, Any]) -> bytes:
    return frame(letter, json.dumps(said).encode())


def read_note(body: bytes) -> dict[str, Any]:
    """A frame's JSON; BadFrame when it is none."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise BadFrame("no JSON") from None
    if not isinstance(said, dict):
        raise BadFrame("no object")
    return said


class Frames:
    """Bytes in, whole frames out, whatever way the bytes are cut. Keeps less than one frame."""

    def __init__(self, letters: bytes, most: int = MAX_BODY) -> None:
        self._letters, self._most = letters, most
        self._rest = b""

    def feed(self, received: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are whole now; BadFrame for an unknown letter or a body that is too long."""
        received = self._rest + received if self._rest else received
        at, end = 0, len(received)
        while end - at >= HEAD.size:
            letter, size = HEAD.unpack_from(received, at)
            if letter not in self._letters or size > self._most:
                raise BadFrame(f"{letter!r} of {size} bytes")
            if end - at - HEAD.size < size:
                break
            at += HEAD.size + size
            self._rest = b""
            yield letter, received[at - size : at]
        self._rest = received[at:]
