"""The topics that a client can follow, and the codes that a connection is closed with."""

from __future__ import annotations

from collections.abc import Iterable

from quarterdeck.core.model.payload import ID

MAX_TOPICS = 100
MOST_TERMINALS = 8
TOPICS = frozenset({"feed", "requests", "sessions", "clients", "render"})
WITH_SNAPSHOT = frozenset({"requests", "sessions", "clients", "render"})

UNAUTHORIZED, FORBIDDEN, WRONG_VERSION, TOO_SLOW, BAD_MESSAGE, SURPRISE = 4401, 4403, 4406, 4408, 4400, 1011


class Closed(Exception):
    """The connection must be closed, with a reason for the client."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def known_topics(names: Iterable[str]) -> frozenset[str]:
    """Those of these topics that exist."""
    return frozenset(name for name in names if name in TOPICS or _is_stream(name))


def unknown_topics(names: Iterable[str]) -> list[str]:
    """Those that do not exist, in a form to show."""
    return [name[:200] for name in names if name not in TOPICS and not _is_stream(name)]


def stream_sessions(topics: Iterable[str]) -> list[str]:
    """The sessions whose streams these topics are."""
    return [topic.partition(":")[2] for topic in topics if _is_stream(topic)]


def _is_stream(topic: str) -> bool:
    kind, _, session_id = topic.partition(":")
    return kind == "streams" and ID.fullmatch(session_id) is not None
