"""What changes, for everyone who listens: gathered for a moment, written once, shared by all, kept for nobody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.views.resources import event_view, request_view, session_view
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.core.model.state import Request
from quarterdeck.wire import write_json


class Limits(Struct, frozen=True, kw_only=True):
    """How long to gather, how much is kept, and how large a frame gets before the next bundle needs another."""

    gather_seconds: float = 0.02
    ring_bytes: int = 8 * 1024 * 1024
    ring_bundles: int = 1024
    frame_bytes: int = 256 * 1024


USUAL = Limits()


class Bundle(Struct, frozen=True):
    """What one moment brought, by topic, ready to send."""

    number: int
    parts: dict[str, list[bytes]]
    size: int


class Frame(Struct, frozen=True):
    """Messages for one listener, up to and with this bundle; empty when it wants nothing of them."""

    text: str
    upto: int


class Live:
    """A short ring of bundles; every listener reads it at its own pace, and one that falls out of it is too slow."""

    def __init__(self, desk: Desk, limits: Limits = USUAL) -> None:
        self._desk = desk
        self._limits = limits
        self._ring: deque[Bundle] = deque()
        self._size = 0
        self._number = 0
        self._events: list[FeedEvent] = []
        self._asked: dict[str, Request] = {}
        self._streams: list[tuple[str, bytes]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._last: dict[frozenset[str], Frame] = {}
        self._listeners: dict[asyncio.Event, frozenset[str]] = {}

    @property
    def head(self) -> int:
        """The number of the last bundle."""
        return self._number

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def listen(self, topics: frozenset[str]) -> asyncio.Event:
        """Be woken at every bundle from now on; what was gathered so far is for the others."""
        self.flush()
        wake = asyncio.Event()
        self._listeners[wake] = topics
        return wake

    def leave(self, wake: asyncio.Event) -> None:
        self._listeners.pop(wake, None)
        if not self._listeners:
            self._ring.clear()
            self._last.clear()
            self._size = 0
            self._events.clear()
            self._asked.clear()
            self._streams.clear()

    def published(self, events: list[FeedEvent]) -> None:
        """Events that are on record."""
        if self._listeners:
            self._events += events
            self._soon()

    def changed(self, requests: list[Request]) -> None:
        """Requests as they are from now on."""
        if self._listeners:
            self._asked.update((request.request_id, request) for request in requests)
            self._soon()

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Something beside the feed, for those who look at this session right now."""
        topic = f"streams:{session_id}"
        if any(topic in topics for topics in self._listeners.values()):
            message = {"type": "stream", "session_id": session_id, "kind": kind, "data": data}
            self._streams.append((topic, write_json(message)))
            self._soon()

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._limits.gather_seconds, self.flush)

    def flush(self) -> None:
        """Make a bundle of what was gathered, and wake everyone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        events, self._events = self._events, []
        streams, self._streams = self._streams, []
        asked, self._asked = self._asked, {}
        if not events and not streams and not asked:
            return
        self._number += 1
        parts = self._parts(events, asked.values(), streams)
        size = sum(len(message) for messages in parts.values() for message in messages)
        self._ring.append(Bundle(self._number, parts, size))
        self._size += size
        while self._is_too_full():
            self._size -= self._ring.popleft().size
        self._last.clear()
        for wake in self._listeners:
            wake.set()

    def _is_too_full(self) -> bool:
        limits, kept = self._limits, len(self._ring)
        return kept > 1 and (self._size > limits.ring_bytes or kept > limits.ring_bundles)

    def _parts(
        self, events: list[FeedEvent], asked: Collection[Request], streams: list[tuple[str, bytes]]
    ) -> dict[str, list[bytes]]:
        wanted = frozenset[str]().union(*self._listeners.values())
        parts: dict[str, list[bytes]] = {}
        if events and "feed" in wanted:
            parts["feed"] = [_message("event", event_view(event)) for event in events]
        if asked and "requests" in wanted:
            parts["requests"] = [_message("request", request_view(self._desk, r)) for r in asked]
        if events and "sessions" in wanted:
            parts["sessions"] = self._sessions(events)
        for topic, message in streams:
            parts.setdefault(topic, []).append(message)
        return parts

    def _sessions(self, events: Iterable[FeedEvent]) -> list[bytes]:
        ids = dict.fromkeys(e.session_id for e in events if e.session_id != OWN)
        found = (self._desk.session(session_id) for session_id in ids)
        return [_message("session", session_view(s, self._desk.runner_id)) for s in found if s is not None]

    def frame(self, after: int, topics: frozenset[str]) -> Frame | None:
        """What came after this bundle, as one frame of bounded size; None when some of it is gone. Listeners that keep
        up share the frame of the last bundle; one that lags gets frames of its own, which nobody keeps."""
        if after != self._number - 1 or not self._ring:
            return self._frame(after, topics)
        wanted = topics.intersection(self._ring[-1].parts)
        found = self._last.get(wanted) or self._frame(after, wanted)
        if found is not None:
            self._last[wanted] = found
        return found

    def _frame(self, after: int, topics: frozenset[str]) -> Frame | None:
        messages: list[bytes] = []
        size, upto = 0, after
        for bundle in self._since(after):
            if bundle.number != upto + 1:
                return None
            wanted = [message for topic, part in bundle.parts.items() if topic in topics for message in part]
            size += sum(map(len, wanted))
            if messages and size > self._limits.frame_bytes:
                break
            messages += wanted
            upto = bundle.number
        return None if upto == after != self._number else Frame(joined(messages), upto)

    def _since(self, after: int) -> Iterator[Bundle]:
        """The bundles after this one that are kept. A number may be missing: what could not be written is a gap."""
        behind = self._number - after
        return (
            bundle for bundle in islice(self._ring, max(0, len(self._ring) - behind), None) if bundle.number > after
        )


def joined(messages: list[bytes]) -> str:
    """Several messages are one frame: an array; one is itself."""
    if len(messages) <= 1:
        return messages[0].decode() if messages else ""
    return (b"[" + b",".join(messages) + b"]").decode()


def _message(kind: str, value: Any) -> bytes:
    return b'{"type":"%b","%b":%b}' % (kind.encode(), kind.encode(), write_json(value))
