"""Frames of the link: one message as JSON text, a large one compressed. Reading is bounded before anything is inflated
or parsed."""

from __future__ import annotations

import hashlib
import zlib
from typing import TypeVar

import msgspec

from quarterdeck.link.messages import AnyHubMessage, AnyRunnerMessage, hub_decoder, runner_decoder

COMPRESS_FROM = 4 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""The size of a message at most, compressed or not. The largest event is smaller."""

_encode = msgspec.json.Encoder().encode
M = TypeVar("M")


class BadMessage(Exception):
    """A frame that is no message of this protocol."""


def event_hash(body: bytes) -> str:
    """The identity of an event on the link: the beginning of the SHA-256 of its stored text. 64 bits tell two events of
    one number apart; more would be half of what a compressed batch weighs."""
    return hashlib.sha256(body).hexdigest()[:16]


def write_frame(message: AnyRunnerMessage | AnyHubMessage) -> str | bytes:
    """The frame of a message: text, or bytes when it was compressed."""
    body = _encode(message)
    return zlib.compress(body, 6) if len(body) > COMPRESS_FROM else body.decode()


def read_runner_frame(frame: str | bytes) -> AnyRunnerMessage:
    """The message of a runner; BadMessage says why a frame is none."""
    return _read(frame, runner_decoder)


def read_hub_frame(frame: str | bytes) -> AnyHubMessage:
    """The message of a hub; BadMessage says why a frame is none."""
    return _read(frame, hub_decoder)


def _read(frame: str | bytes, decoder: msgspec.json.Decoder[M]) -> M:
    body = frame.encode(errors="replace") if isinstance(frame, str) else _inflated(frame)
    if len(body) > MAX_BYTES:
        raise BadMessage(f"a message has more than {MAX_BYTES} bytes")
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"not a message of this protocol: {str(error)[:200]}") from None


def _inflated(frame: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(frame, MAX_BYTES + 1)
    except zlib.error as error:
        raise BadMessage(f"not compressed as it should be: {error}") from None
    if len(body) > MAX_BYTES or inflater.unconsumed_tail:
        raise BadMessage(f"a message has more than {MAX_BYTES} bytes")
    if not inflater.eof or inflater.unused_data:
        raise BadMessage("a compressed message that ends too early or too late")
    return body
