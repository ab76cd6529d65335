"""One WebSocket connection, from the events in the log to live ones."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from quarterdeck.api.backend import Backend
from quarterdeck.api.http.agent_block import AgentGuard
from quarterdeck.api.http.credentials import Credentials, RateLimit
from quarterdeck.api.live.broadcast import Broadcaster, BroadcastLimits
from quarterdeck.api.live.clients import Clients
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.api.live.terminals import MachineTerminals
from quarterdeck.api.live.websocket import Sockets
from quarterdeck.core.engine.messages import CommandReply
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


class CountingParts:
    """The rules and the projects of a backend that only count: how often each command was carried out. While `gate` is
    closed, a command that trusts a folder waits, as one that scans it does."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.gate = asyncio.Event()
        self.gate.set()

    async def remove(self, rule_id: str, by: str) -> CommandReply:
        self.done[rule_id] += 1
        await asyncio.sleep(0)
        return CommandReply(request_id=rule_id, outcome="applied")

    async def trust(self, path: str, trust: str, by: str) -> CommandReply:
        self.done[path.removeprefix("/")] += 1
        await self.gate.wait()
        return CommandReply(request_id=path, outcome="applied")


class NoAgents:
    """Every caller is a person."""

    async def reject_agent(self, *_: object) -> None:
        await asyncio.sleep(0)


class Surface:
    """A client with a cursor: it checks that every event comes once and in order, and counts its answers."""

    def __init__(self, sockets: Sockets, credentials: Credentials, after: int | None, *, feed: bool) -> None:
        self.position = after or 0
        self.follows = feed
        self.is_greeted = False
        self.sent: set[str] = set()
        self.answers: Counter[str] = Counter()
        self.accepted: set[str] = set()
        self.topic_changes = 0
        self._incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._is_cut = False
        scope = {
            "qd_principal": credentials.principal(b"owner"),
            "extensions": {"quarterdeck.abort": self.cut, "quarterdeck.taken": lambda: asyncio.sleep(0)},
        }
        self.says({"type": "hello", "protocol": 2, "after": after, "topics": ["feed"] if feed else []})
        self._resumes = after is not None and feed
        self.task = asyncio.create_task(sockets(scope, self._incoming.get, cast(Any, self._receive)))

    def says(self, message: dict[str, Any]) -> None:
        self._incoming.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    def orders(self, name: str, command_id: str) -> None:
        """Send a command whose id is also that of the thing it is about."""
        args = {"rule_id": command_id} if name == "remove_rule" else {"path": f"/{command_id}"}
        self.sent.add(command_id)
        self.says({"type": "command", "id": command_id, "name": name, "args": args})

    def cut(self) -> None:
        """Lose the connection, whatever is under way."""
        self._is_cut = True
        self._incoming.put_nowait({"type": "websocket.disconnect"})

    async def _receive(self, message: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        if self._is_cut:
            raise OSError("the connection is gone")
        content = json.loads(message.get("text") or "[]")
        for one in content if isinstance(content, list) else [content]:
            self._take(one)

    def _take(self, message: dict[str, Any]) -> None:
        match message["type"]:
            case "hello":
                assert not self.is_greeted
                self.is_greeted = True
                if not self._resumes:
                    self.position = message["cursor"]
            case "event":
                assert self.follows
                assert message["cursor"] == self.position + 1, "an event is missing, or came twice"
                self.position += 1
            case "subscribed":
                is_new = "feed" in message["topics"] and not self.follows
                self.follows = "feed" in message["topics"]
                self.position = message["cursor"] if is_new else self.position
                self.topic_changes -= 1
            case "ack":
                self.answers[message["id"]] += 1
                if message["ok"]:
                    self.accepted.add(message["id"])


COMMAND_NAMES = st.sampled_from(["remove_rule", "trust_project"])


class SocketStory(RuleBasedStateMachine):
    """Connect, subscribe, command, cut and return, in any order: a command is carried out at most once, and answered
    exactly once while its connection lives."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.feed = Ahead([], published=0)
        self.count = 0
        self.surface: Surface | None = None
        self.earlier: list[Surface] = []
        self.loop.run_until_complete(self._build())

    async def _build(self) -> None:
        self.parts = CountingParts()
        nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
        parts: dict[str, Any] = {"feed": self.feed, "sessions": {}, "rules": self.parts, "projects": self.parts}
        backend = Backend(**nothing | parts | {"runner_id": "otter"})
        source = MachineSource(backend)
        self.live = Broadcaster(source, BroadcastLimits(gather_seconds=0.0))
        self.credentials = Credentials("owner", "hook", dict)
        agents = cast(AgentGuard, NoAgents())
        clients, terminals = Clients(Attendance()), MachineTerminals(backend.sessions)
        self.sockets = Sockets(backend, source, self.live, self.credentials, RateLimit(), agents, clients, terminals)

    def _run(self, steps: int) -> None:
        async def run() -> None:
            for _ in range(steps):
                await asyncio.sleep(0)

        self.loop.run_until_complete(run())

    @precondition(lambda self: self.surface is None)
    @rule(feed=st.booleans(), resumes=st.booleans(), steps=st.integers(0, 40))
    def connect(self, *, feed: bool, resumes: bool, steps: int) -> None:
        """Connect for the first time, or return with the cursor of the last connection."""
        after = self.earlier[-1].position if resumes and self.earlier and self.earlier[-1].is_greeted else None

        async def start() -> Surface:
            return Surface(self.sockets, self.credentials, after, feed=feed)

        self.surface = self.loop.run_until_complete(start())
        self._run(steps)

    @precondition(lambda self: self.surface is not None)
    @rule(kind=st.sampled_from(["subscribe", "unsubscribe"]), steps=st.integers(0, 40))
    def change_topics(self, kind: str, steps: int) -> None:
        assert self.surface is not None
        if self.surface.topic_changes < 5:
            self.surface.topic_changes += 1
            self.surface.says({"type": kind, "topics": ["feed"]})
        self._run(steps)

    @precondition(lambda self: self.surface is not None)
    @rule(name=COMMAND_NAMES, steps=st.integers(0, 40))
    def command(self, name: str, steps: int) -> None:
        assert self.surface is not None
        self.count += 1
        self.surface.orders(name, f"c{self.count}")
        self._run(steps)

    @rule(steps=st.integers(0, 40))
    def record(self, steps: int) -> None:
        """Something happens that is recorded."""
        self.feed.recorded.append(event(len(self.feed.recorded) + 1))
        self.feed.seq_no += 1

        async def publish() -> None:
            self.live.published(self.feed.recorded[-1:])

        self.loop.run_until_complete(publish())
        self._run(steps)

    @rule(is_open=st.booleans())
    def move_gate(self, *, is_open: bool) -> None:
        (self.parts.gate.set if is_open else self.parts.gate.clear)()

    @precondition(lambda self: self.surface is not None)
    @rule(steps=st.integers(0, 40))
    def cut(self, steps: int) -> None:
        assert self.surface is not None
        self.surface.cut()
        self.earlier.append(self.surface)
        self.surface = None
        self._run(steps)

    @invariant()
    def nothing_happens_twice(self) -> None:
        assert all(count == 1 for count in self.parts.done.values())
        for one in [*self.earlier, *([self.surface] if self.surface else [])]:
            assert one.answers.keys() <= one.sent
            assert all(count == 1 for count in one.answers.values())
            assert one.accepted <= self.parts.done.keys()

    def teardown(self) -> None:
        """Everything that still waits is answered, and every event has come."""
        try:
            self.parts.gate.set()
            self._settle()
            self.nothing_happens_twice()
            self.loop.run_until_complete(self._close())
        finally:
            self.loop.close()

    def _settle(self) -> None:
        surface = self.surface
        if surface is None:
            return
        for _ in range(500):
            self._run(20)
            if self._is_settled(surface):
                break
        assert surface.answers == Counter(surface.sent)
        assert surface.accepted == surface.sent & self.parts.done.keys()
        assert surface.position == self.feed.seq_no or not surface.follows

    async def _close(self) -> None:
        surfaces = [*self.earlier, *([self.surface] if self.surface else [])]
        for one in surfaces:
            one.cut()
        await asyncio.gather(*(one.task for one in surfaces))
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others)  # commands of lost connections run to their end

    def _is_settled(self, surface: Surface) -> bool:
        is_caught_up = surface.position == self.feed.seq_no or not surface.follows
        is_answered = surface.answers.keys() == surface.sent and surface.topic_changes == 0
        return surface.is_greeted and is_answered and is_caught_up


TestSocketStory = SocketStory.TestCase
TestSocketStory.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
