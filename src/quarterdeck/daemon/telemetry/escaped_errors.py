"""Errors that nothing caught at the edge, logged with the input that caused them, so that they can be repeated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import structlog

HEAD_BYTES = 1500
"""As much of a head as one entry of the log holds."""

SECRET_LINE = re.compile(rb"^(authorization|cookie|x-csrf-token|sec-websocket-protocol)[ \t]*:.*", re.IGNORECASE)
REPEATABLE_BYTES = 64 * 1024

logger = structlog.get_logger("edge")


def log_escaped_error(where: str, received: bytes, *, is_head: bool = False) -> None:
    """Log the error that is handled at this moment. A head is shown without credentials; of anything else, which may
    be an agent's, the size and a digest are shown, and the bytes only at the level debug."""
    shown = {"head": _shown_head(received)} if is_head else {}
    digest = hashlib.sha256(received).hexdigest()
    logger.error("an error was not handled", where=where, size=len(received), sha256=digest, **shown, exc_info=True)
    if not is_head:
        logger.debug("what caused that error", raw=ascii(received[:REPEATABLE_BYTES])[2:-1], sha256=digest)


def head_of(scope: Mapping[str, Any]) -> bytes:
    """The head of a request as it was sent, but for the order of equal headers."""
    target = scope.get("raw_path") or b""
    query = scope.get("query_string") or b""
    first = b"%s %s%s" % (str(scope.get("method", "GET")).encode(), target, b"?" + query if query else b"")
    return b"\r\n".join([first, *(b"%s: %s" % header for header in scope.get("headers", ()))])


def _shown_head(received: bytes) -> str:
    head = received.partition(b"\r\n\r\n")[0][:HEAD_BYTES]
    lines = [SECRET_LINE.sub(rb"\1: ...", line) for line in head.split(b"\r\n")]
    return " | ".join(ascii(line)[2:-1] for line in lines)
