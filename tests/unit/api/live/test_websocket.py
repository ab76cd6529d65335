"""One WebSocket connection, from the events in the log to live ones."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from quarterdeck.api.backend import Backend
from quarterdeck.api.http.agent_block import AgentGuard
from quarterdeck.api.http.credentials import Credentials, RateLimit
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.clients import Clients
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.api.live.terminals import MachineTerminals
from quarterdeck.api.live.websocket import Sockets
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.store.reader import EventPage, FeedQuery


def event(seq_no: int) -> FeedEvent[Any]:
    run: dict[str, Any] = {"session_id": "s1", "run_id": "s1:R0", "event_id": f"s1:R0:E{seq_no}", "seq": seq_no}
    rest: dict[str, Any] = {"runner_id": "otter", "at": 1.0, "level": "info", "actor_id": "system"}
    return FeedEvent(seq_no=seq_no, kind="note", data={}, **run, **rest)


class Ahead:
    """A log that holds events that have not been published yet, as while a thread records a large input."""

    def __init__(self, events: list[FeedEvent[Any]], published: int) -> None:
        self.recorded, self.seq_no = events, published

    async def can_resume(self, after: int) -> bool:
        return True

    async def events(self, query: FeedQuery) -> EventPage:
        after, before = query.after or 0, query.before or 2**63
        found = [event for event in self.recorded if after < event.seq_no < before]
        return EventPage(found[: query.limit], len(found) >= query.limit)


def backend_of(feed: Ahead) -> Backend:
    """A backend of which only the feed is used; it knows no session."""
    nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
    return Backend(**nothing | {"runner_id": "otter", "feed": feed, "sessions": {}})


class Wire:
    """The client: sends a hello and collects the position of every event."""

    def __init__(self, credentials: Credentials, hello: dict[str, Any]) -> None:
        self.got: list[int] = []
        self.gone = asyncio.Event()
        self.scope = {
            "qd_principal": credentials.principal(b"owner"),
            "extensions": {"quarterdeck.abort": self.gone.set, "quarterdeck.taken": self._taken},
        }
        self._hello: str | None = json.dumps(hello)

    async def _taken(self) -> None:
        pass

    async def receive(self) -> dict[str, Any]:
        hello, self._hello = self._hello, None
        if hello is None:
            await self.gone.wait()
            return {"type": "websocket.disconnect"}
        return {"type": "websocket.receive", "text": hello}

    async def send(self, message: dict[str, Any]) -> None:
        content = json.loads(message.get("text") or "[]")
        for one in content if isinstance(content, list) else [content]:
            if one["type"] == "event":
                self.got.append(one["event"]["seq_no"])

    async def until(self, last: int) -> list[int]:
        while not self.got or self.got[-1] < last:
            await asyncio.sleep(0)
        return self.got


@pytest.mark.law("E6")
async def test_an_event_recorded_but_not_yet_published_is_sent_once() -> None:
    feed = Ahead([event(n) for n in range(1, 61)], published=40)
    backend = backend_of(feed)
    source, credentials = MachineSource(backend), Credentials("owner", "hook", dict)
    live = Broadcaster(source)
    clients, agents = Clients(Attendance()), cast(AgentGuard, None)
    terminals = MachineTerminals(backend.sessions)
    sockets = Sockets(backend, source, live, credentials, RateLimit(), agents, clients, terminals)
    wire = Wire(credentials, {"type": "hello", "protocol": 2, "after": 0, "topics": ["feed"]})
    connection = asyncio.create_task(sockets(wire.scope, wire.receive, cast(Any, wire.send)))
    while not live.listeners:
        await asyncio.sleep(0)
    feed.recorded.append(event(61))
    feed.seq_no = 61
    live.published(feed.recorded[40:])
    assert await wire.until(61) == list(range(1, 62))
    wire.gone.set()
    await connection
