"""The frames between a terminal's host and its clients: a letter, a length, and that many bytes.

To the host: VIEW (JSON cols and rows: view it, or change the size; zeros: view it once, without a size), TYPE (typed
bytes), PROMPT (JSON id and text), INTERRUPT, STOP, ACKNOWLEDGED (the end was received, the host may exit). From the
host: STATE (JSON, at first and at every change), SCREEN (JSON bytes: the number of following bytes that draw the
current screen; everything before is void), OUTPUT (bytes), ANSWER (JSON id and error).

Terminals outlive the daemon, so a new daemon speaks to hosts of an older version: letters and JSON keys must not
change. Standard library only: the host is a small process.
"""

from __future__ import annotations

import json
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

VIEW, TYPE, PROMPT, INTERRUPT, STOP, ACKNOWLEDGED = b"V", b"W", b"P", b"I", b"E", b"F"
STATE, SCREEN, OUTPUT, ANSWER = b"S", b"R", b"O", b"A"
HEAD = struct.Struct(">cI")
# Twice the longest prompt, which JSON may make longer.
MAX_BODY = 1024 * 1024


class BadFrame(Exception):
    """The bytes are not a frame, or one that is too long."""


def frame(letter: bytes, body: bytes = b"") -> bytes:
    return HEAD.pack(letter, len(body)) + body


def json_frame(letter: bytes, value: dict[str, Any]) -> bytes:
    return frame(letter, json.dumps(value).encode())


def read_json_body(body: bytes) -> dict[str, Any]:
    """The JSON object in a frame; BadFrame if it is not one."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadFrame("not JSON") from None
    if not isinstance(value, dict):
        raise BadFrame("not a JSON object")
    return value


class Frames:
    """Bytes in, whole frames out, however the bytes are cut. Keeps less than one frame."""

    def __init__(self, letters: bytes, most: int = MAX_BODY) -> None:
        self._letters, self._most = letters, most
        self._rest = bytearray()

    def feed(self, received: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The frames that are complete now; BadFrame for an unknown letter or a body that is too long."""
        if self._rest:  # grows in place: a frame of megabytes comes in many pieces
            self._rest += received
            if not self._is_complete():
                return
            received = bytes(self._rest)
            self._rest.clear()
        at, end = 0, len(received)
        while end - at >= HEAD.size:
            letter, size = self._head(received, at)
            if end - at - HEAD.size < size:
                break
            at += HEAD.size + size
            yield letter, received[at - size : at]
        self._rest[:0] = received[at:]

    def _is_complete(self) -> bool:
        """True if the first frame in the rest has come whole."""
        return len(self._rest) >= HEAD.size and len(self._rest) - HEAD.size >= self._head(self._rest, 0)[1]

    def _head(self, received: bytes | bytearray, at: int) -> tuple[bytes, int]:
        letter, size = HEAD.unpack_from(received, at)
        if letter not in self._letters or size > self._most:
            raise BadFrame(f"{letter!r} of {size} bytes")
        return letter, size
