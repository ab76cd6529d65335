"""The WebSocket of a hub: the sessions, requests and events of all machines, and commands to them."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from websockets.asyncio.client import connect

from quarterdeck.link.messages import CommandResultMessage, OpenStream, RemoteCommand, RunnerStream
from tests.support.daemon import PATIENCE_SECONDS, Json, until
from tests.support.hub import HubProcess, SimulatedRunner, link_event, request_view, session_view


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubProcess]:
    with HubProcess(tmp_path / "hub") as process:
        yield process


class Surface:
    """A surface that collects every message."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.got: list[Json] = []

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def until(self, kind: str, is_meant: Any = lambda message: True) -> Json:
        """The next message of this type that is meant."""
        while True:
            for n, message in enumerate(self.got):
                if message["type"] == kind and is_meant(message):
                    del self.got[: n + 1]
                    return message
            frame = json.loads(await asyncio.wait_for(self.connection.recv(), PATIENCE_SECONDS))
            self.got += frame if isinstance(frame, list) else [frame]


def hello(hub: HubProcess, **more: Any) -> Json:
    topics = ["feed", "sessions", "requests"]
    return {"type": "hello", "protocol": 2, "client": "tui", "version": "", "token": hub.token, "topics": topics} | more


async def test_surfaces_see_every_machine_and_resume_by_the_cursor_of_the_hub(hub: HubProcess) -> None:
    with SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as runner:
        runner.join()
        runner.view(snapshot=True, sessions=[session_view("a-1", "s1")])
        runner.backfill(link_event("a-1", 1))
        await asyncio.to_thread(runner.acknowledgement)
        await asyncio.to_thread(until, lambda: len(hub.api("GET", "/sessions")[1]["sessions"]) == 1)
        async with connect(hub.url.replace("http", "ws") + "/ws") as connection:
            surface = Surface(connection)
            await surface.send(**hello(hub))
            greeting = await surface.until("hello")
            assert greeting["resume"] == "ok"
            snapshot = await surface.until("snapshot")
            assert [one["session_id"] for one in snapshot["sessions"]] == ["s1"]
            runner.backfill(link_event("a-1", 2))
            event = await surface.until("event")
            assert (event["event"]["seq_no"], event["event"]["runner_id"]) == (2, "a-1")
            runner.view(requests=[request_view("a-1", "q1")])
            request = await surface.until("request")
            assert request["request"]["decisions"] == ["allow", "deny"]
        async with connect(hub.url.replace("http", "ws") + "/ws") as connection:
            surface = Surface(connection)
            runner.backfill(link_event("a-1", 3))
            await surface.send(**hello(hub, after=event["cursor"]))
            assert (await surface.until("hello"))["resume"] == "ok"
            assert (await surface.until("event"))["event"]["seq_no"] == 3
    # the connection of the runner has ended: its request takes no decision any more
    async with connect(hub.url.replace("http", "ws") + "/ws") as connection:
        surface = Surface(connection)
        await asyncio.to_thread(until, lambda: hub.runner("a-1")["state"] == "away")
        await surface.send(**hello(hub))
        snapshot = await surface.until("snapshot")
        assert snapshot["requests"][0]["decisions"] == []


async def test_a_command_of_a_surface_is_answered_by_the_machine(hub: HubProcess) -> None:
    with SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as runner:
        runner.join()
        runner.view(snapshot=True, requests=[request_view("a-1", "q1")])
        await asyncio.to_thread(until, lambda: len(hub.pending_views()) == 1)
        async with connect(hub.url.replace("http", "ws") + "/ws") as connection:
            surface = Surface(connection)
            await surface.send(**hello(hub))
            await surface.until("snapshot")
            args = {"request_id": "q1", "decision": "deny", "digest": "d" * 64, "message": "no"}
            await surface.send(type="command", id="k1", name="decide", args=args)
            command = await asyncio.to_thread(_next, runner, RemoteCommand)
            assert (command.name, command.args) == ("decide", args)
            assert command.actor == "owner via tui"
            body = Raw(b'{"request_id":"q1","decision":"deny"}')
            runner.send(CommandResultMessage(id=command.id, ok=True, status=200, body=body))
            ack = await surface.until("ack")
            assert (ack["ok"], ack["result"]) == (True, {"request_id": "q1", "decision": "deny"})
            await surface.send(type="command", id="k2", name="decide", args={**args, "nonsense": 1})
            assert (await surface.until("ack"))["error"]["kind"] == "invalid"


async def test_a_terminal_is_streamed_on_demand_with_its_own_credit(hub: HubProcess) -> None:
    owned = {"status": "up", "launched_at": 5.0}
    with SimulatedRunner(hub, hub.enroll("a")["token"], "a-1") as runner:
        runner.join()
        runner.view(snapshot=True, sessions=[session_view("a-1", "s1", mode="pty", owned=owned)])
        await asyncio.to_thread(until, lambda: len(hub.api("GET", "/sessions")[1]["sessions"]) == 1)
        async with connect(hub.url.replace("http", "ws") + "/ws") as connection:
            surface = Surface(connection)
            await surface.send(**hello(hub, topics=["streams:s1"]))
            opened: dict[str, OpenStream] = {}
            while len(opened) < 2:
                message = await asyncio.to_thread(_next, runner, OpenStream)
                opened[message.kind] = message
            data = base64.b64encode(b"on the screen").decode()
            number = opened["terminal"].stream
            runner.send(RunnerStream(stream=number, session_id="s1", kind="terminal", data=data))
            shown = await surface.until("stream", lambda one: one["kind"] == "terminal")
            assert base64.b64decode(shown["data"]) == b"on the screen"
            text = {"text": "I look", "event": "text"}
            runner.send(RunnerStream(stream=opened["text"].stream, session_id="s1", kind="text", data=text))
            assert (await surface.until("stream", lambda one: one["kind"] == "text"))["data"]["text"] == "I look"
            args = {"session_id": "s1", "data": data}
            await surface.send(type="command", id="k1", name="terminal_input", args=args)
            command = await asyncio.to_thread(_next, runner, RemoteCommand)
            assert (command.name, command.args) == ("terminal_input", args)


def _next(runner: SimulatedRunner, kind: Any) -> Any:
    while not isinstance(message := runner.read(), kind):
        pass
    return message
