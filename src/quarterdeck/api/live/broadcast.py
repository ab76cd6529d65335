"""Broadcasts changes to WebSocket clients: at once after a quiet moment, then batched, encoded once, kept in a bounded
ring."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from quarterdeck.api.live.live_source import LiveSource
from quarterdeck.api.live.text_so_far import TextSoFar
from quarterdeck.api.live.ws_messages import StreamMessage
from quarterdeck.core.model.state import Request
from quarterdeck.wire import write_json


class BroadcastLimits(Struct, frozen=True, kw_only=True):
    """Limits: the time to gather, how many batches are sent at once before changes are gathered, the size of the ring,
    and the frame size above which a new frame is started."""

    gather_seconds: float = 0.02
    at_once: int = 4
    ring_bytes: int = 8 * 1024 * 1024
    ring_batches: int = 1024
    frame_bytes: int = 256 * 1024


USUAL = BroadcastLimits()


class Batch(Struct, frozen=True):
    """The encoded messages of one moment, by topic."""

    number: int
    parts: dict[str, list[bytes]]
    size: int


class Frame(Struct, frozen=True):
    """Messages for one listener up to and including batch `upto`; empty when none is of its topics."""

    text: str
    upto: int


class GatherTimer(Protocol):
    def cancel(self) -> None: ...


class GatherClock(Protocol):
    """The part of an event loop that decides when a batch is made."""

    def time(self) -> float: ...

    def call_soon(self, callback: Callable[[], None], /) -> GatherTimer: ...

    def call_later(self, delay: float, callback: Callable[[], None], /) -> GatherTimer: ...


class Broadcaster:
    """A short ring of batches. Every listener reads at its own pace; one that falls out of the ring is too slow.
    Without a `clock` the running event loop is used."""

    def __init__(self, source: LiveSource, limits: BroadcastLimits = USUAL, clock: GatherClock | None = None) -> None:
        self._source = source
        self._limits = limits
        self._clock = clock
        self._used_until = self._due = float("-inf")
        self._ring: deque[Batch] = deque()
        self._size = 0
        self._number = 0
        self._events: list[Any] = []
        self._requests: dict[Hashable, Any] = {}
        self._sessions: dict[Hashable, Any] = {}
        self._streams: list[tuple[str, bytes]] = []
        self._latest: dict[str, bytes] = {}
        self._so_far = TextSoFar()
        self._timer: GatherTimer | None = None
        self._last: dict[frozenset[str], Frame] = {}
        self._listeners: dict[asyncio.Event, frozenset[str]] = {}

    @property
    def head(self) -> int:
        """The number of the last batch."""
        return self._number

    @property
    def topics(self) -> frozenset[str]:
        """Every topic that a listener follows."""
        return frozenset[str]().union(*self._listeners.values())

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    def listen(self, topics: frozenset[str]) -> asyncio.Event:
        """Set the returned event at every batch from now on. Earlier changes are flushed first, so that they reach only
        earlier listeners."""
        self.flush()
        wake = asyncio.Event()
        self._listeners[wake] = topics
        return wake

    def follow(self, wake: asyncio.Event, topics: frozenset[str]) -> None:
        """Change the topics of a listener. The caller has flushed, and taken every frame of the earlier topics."""
        self._listeners[wake] = topics

    def so_far(self, topics: Iterable[str]) -> list[bytes]:
        """The partial text of these streams' sessions, as stream messages."""
        ids = [session_id for kind, _, session_id in (topic.partition(":") for topic in topics) if kind == "streams"]
        return [_stream(one, kind, data) for one in ids for kind, data in self._so_far.of(one)]

    def leave(self, wake: asyncio.Event) -> None:
        self._listeners.pop(wake, None)
        if not self._listeners:
            self._ring.clear()
            self._last.clear()
            self._size = 0
            self._events.clear()
            self._requests.clear()
            self._sessions.clear()
            self._streams.clear()
            self._latest.clear()

    def published(self, events: list[Any], *, at_once: bool = True) -> None:
        """Broadcast recorded events. The results of a client's command are not sent at once: the client should have
        its answer before it."""
        self._so_far.drop_recorded(events)
        if self._listeners:
            self._events += events
            self._soon(at_once=at_once)

    def changed(self, requests: list[Request], *, at_once: bool = True) -> None:
        """Broadcast requests in their new state."""
        self.shown("requests", ((request.request_id, request) for request in requests), at_once=at_once)

    def shown(self, topic: str, items: Iterable[tuple[Hashable, Any]], *, at_once: bool = True) -> None:
        """Broadcast sessions or requests in their new state, each under a key: of one key only the newest counts."""
        if self._listeners:
            (self._requests if topic == "requests" else self._sessions).update(items)
            self._soon(at_once=at_once)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        """Broadcast something outside the feed to the clients that watch this session now."""
        self._so_far.add(session_id, kind, data)
        topic = f"streams:{session_id}"
        if any(topic in topics for topics in self._listeners.values()):
            self._streams.append((topic, _stream(session_id, kind, data)))
            self._soon()

    def follows(self, topic: str) -> bool:
        """True if a client follows this topic."""
        return any(topic in topics for topics in self._listeners.values())

    def latest(self, topic: str, value: Callable[[], Any], field: str = "") -> None:
        """Broadcast a value of which only the newest counts, to the clients that follow its topic. `field` is where the
        message has it, the name of the topic if empty."""
        if self.follows(topic):
            self._latest[topic] = _message(topic, value(), field)
            self._soon()

    def _soon(self, *, at_once: bool = True) -> None:
        """Flush at the end of this turn of the event loop, or when the time to gather is over. A tool call, the request
        for it and its risk come within a few milliseconds, so several batches may go at once; only a flood has used
        those up, and there each frame for many listeners costs more than what is in it."""
        clock, limits = self._clock or asyncio.get_running_loop(), self._limits
        now = clock.time()
        due = max(now, self._used_until - (limits.at_once - 1) * limits.gather_seconds)
        if not at_once:
            due = max(due, now + limits.gather_seconds)
        if self._timer is not None:
            if due >= self._due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = clock.call_later(due - now, self.flush) if due > now else clock.call_soon(self.flush)

    def _use(self) -> None:
        """Count a batch. Each uses up one time to gather, and time that passes gives it back."""
        now = (self._clock or asyncio.get_running_loop()).time()
        self._used_until = max(self._used_until, now) + self._limits.gather_seconds

    def flush(self) -> None:
        """Make a batch of the gathered changes, and wake every listener."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        events, self._events = self._events, []
        streams, self._streams = self._streams, []
        requests, self._requests = self._requests, {}
        sessions, self._sessions = self._sessions, {}
        streams += self._latest.items()
        self._latest = {}
        if not events and not streams and not requests and not sessions:
            return
        self._use()
        self._number += 1
        parts = self._parts(events, requests.values(), sessions.values(), streams)
        size = sum(len(message) for messages in parts.values() for message in messages)
        self._ring.append(Batch(self._number, parts, size))
        self._size += size
        while self._is_too_full():
            self._size -= self._ring.popleft().size
        self._last.clear()
        for wake in self._listeners:
            wake.set()

    def _is_too_full(self) -> bool:
        limits, kept = self._limits, len(self._ring)
        return kept > 1 and (self._size > limits.ring_bytes or kept > limits.ring_batches)

    def _parts(
        self,
        events: list[Any],
        requests: Collection[Any],
        sessions: Collection[Any],
        streams: list[tuple[str, bytes]],
    ) -> dict[str, list[bytes]]:
        topics = frozenset[str]().union(*self._listeners.values())
        parts: dict[str, list[bytes]] = {}
        source = self._source
        if events and "feed" in topics:
            parts["feed"] = [source.event_message(event) for event in events]
        if requests and "requests" in topics:
            parts["requests"] = [_message("request", source.request_view(r)) for r in requests]
        if (events or sessions) and "sessions" in topics:
            changed = [*source.sessions_of(events), *sessions]
            parts["sessions"] = [_message("session", source.session_view(s)) for s in changed]
        for topic, message in streams:
            parts.setdefault(topic, []).append(message)
        return parts

    def frame(self, after: int, topics: frozenset[str]) -> Frame | None:
        """The changes after this batch as one frame of bounded size; None when some are gone. Listeners that keep up
        share the frame of the last batch; one that lags gets frames of its own, which are not kept."""
        if after != self._number - 1 or not self._ring:
            return self._frame(after, topics)
        present = topics.intersection(self._ring[-1].parts)
        frame = self._last.get(present) or self._frame(after, present)
        if frame is not None:
            self._last[present] = frame
        return frame

    def _frame(self, after: int, topics: frozenset[str]) -> Frame | None:
        messages: list[bytes] = []
        size, upto = 0, after
        for batch in self._since(after):
            if batch.number != upto + 1:
                return None
            more = [message for topic, part in batch.parts.items() if topic in topics for message in part]
            size += sum(map(len, more))
            if messages and size > self._limits.frame_bytes:
                break
            messages += more
            upto = batch.number
        return None if upto == after != self._number else Frame(joined(messages), upto)

    def _since(self, after: int) -> Iterator[Batch]:
        """The kept batches after this one. A number may be missing: a batch that could not be encoded is a gap."""
        behind = self._number - after
        return (batch for batch in islice(self._ring, max(0, len(self._ring) - behind), None) if batch.number > after)


def joined(messages: list[bytes]) -> str:
    """One frame of several messages: an array, or the message itself when there is only one."""
    if len(messages) <= 1:
        return messages[0].decode() if messages else ""
    return (b"[" + b",".join(messages) + b"]").decode()


def _stream(session_id: str, kind: str, data: Any) -> bytes:
    return write_json(StreamMessage(session_id=session_id, kind=kind, data=data))


def _message(kind: str, value: Any, field: str = "") -> bytes:
    return b'{"type":"%b","%b":%b}' % (kind.encode(), (field or kind).encode(), write_json(value))
