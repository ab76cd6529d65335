"""`/ws` of a real daemon: topics that change, surfaces that see each other, and commands to one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.access import make_token
from tests.support.daemon import Daemon, Json, permission, prompt
from tests.support.raw_http import send
from tests.support.ws_client import Socket, hello, opened

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("topics") / "home") as running:
        running.hook(prompt("begin", "first"))
        yield running
        assert "Traceback" not in running.stderr()


@asynccontextmanager
async def client(daemon: Daemon, *topics: str, token: str | None = None, **more: Any) -> AsyncIterator[Socket]:
    """A connection after the hello, which is its `welcome`, and the snapshot."""
    async with opened(daemon) as socket:
        await socket.send(hello(token or daemon.token, topics=list(topics), **more))
        socket.welcome = await socket.until("hello")
        await socket.until("snapshot")
        yield socket


async def seen(daemon: Daemon, socket: Socket, words: str) -> Json:
    """The event of a prompt that is sent now."""
    await asyncio.to_thread(daemon.hook, prompt(words, "first"))
    while True:
        event: Json = (await socket.until("event"))["event"]
        if event["data"].get("prompt") == words:
            return event


async def test_a_client_follows_more_and_fewer_topics(daemon: Daemon) -> None:
    async with client(daemon) as socket:
        await socket.send({"type": "subscribe", "topics": ["feed", "sessions", "nonsense"]})
        shot = await socket.until("snapshot")
        assert "first" in {session["session_id"] for session in shot["sessions"]}
        answer = await socket.until("subscribed")
        assert answer["topics"] == ["feed", "sessions"]
        event = await seen(daemon, socket, "after the change")
        assert event["seq_no"] > answer["cursor"]
        await socket.send({"type": "unsubscribe", "topics": ["feed", "never followed"]})
        assert (await socket.until("subscribed"))["topics"] == ["sessions"]
        await asyncio.to_thread(daemon.hook, prompt("not seen", "first"))
        await socket.until("session")
        await socket.send({"type": "ping", "id": 1})
        assert (await socket.read())["type"] in ("pong", "session")


@pytest.mark.law("E6")
async def test_changing_topics_in_a_flood_loses_and_repeats_no_event(daemon: Daemon) -> None:
    flood = asyncio.create_task(asyncio.to_thread(_pour, daemon))
    async with client(daemon, "feed") as socket:
        got: list[int] = []
        for n in range(40):
            kind = "subscribe" if n % 2 == 0 else "unsubscribe"
            await socket.send({"type": kind, "topics": ["sessions", "requests", "clients"]})
            while (message := await socket.read())["type"] != "subscribed":
                got += [message["event"]["seq_no"]] if message["type"] == "event" else []
        await flood
        last = (await seen(daemon, socket, "the last"))["seq_no"]
        assert got == list(range(got[0], got[-1] + 1))
        assert got[0] == socket.welcome["seq_no"] + 1
        assert last >= got[-1]


def _pour(daemon: Daemon) -> None:
    for n in range(200):
        daemon.hook(prompt(f"flood {n}", "first"))


async def test_an_unknown_topic_is_named_and_the_known_ones_are_followed(daemon: Daemon) -> None:
    async with client(daemon) as socket:
        await socket.send({"type": "subscribe", "topics": ["streams:../x", "requests"]})
        assert (await socket.read())["message"] == "unknown topic: streams:../x"
        assert (await socket.until("subscribed"))["topics"] == ["requests"]


@pytest.mark.parametrize("bad", [{"type": "subscribe"}, {"type": "visible"}, {"type": "taken", "bytes": -1}])
async def test_a_message_without_its_fields_is_named(daemon: Daemon, bad: Json) -> None:
    async with client(daemon) as socket:
        await socket.send(bad)
        code, reason = await socket.closed()
        assert (code, reason.partition(":")[0]) == (4400, bad["type"])


async def test_surfaces_see_each_other_and_what_each_of_them_shows(daemon: Daemon) -> None:
    async with client(daemon, "clients", client_id="tv") as near:
        assert near.welcome["client_id"] == "tv"
        async with client(daemon, client_id="phone") as far:
            await _clients_until(near, {"tv", "phone"})
            await far.send({"type": "visible", "visible": True, "session_id": "first", "request_id": "r1"})
            shown = await near.until("clients")
            phone = next(one for one in shown["clients"] if one["client_id"] == "phone")
            assert (phone["visible"], phone["session_id"], phone["request_id"]) == (True, "first", "r1")
            listed = await asyncio.to_thread(daemon.api, "GET", "/clients")
            assert [one["client_id"] for one in listed[1]["clients"]][-2:] == ["tv", "phone"]
        await _clients_until(near, {"tv"})


async def _clients_until(socket: Socket, names: set[str]) -> None:
    while names != {one["client_id"] for one in (await socket.until("clients"))["clients"]}:
        pass


async def test_the_id_of_a_client_of_another_credential_cannot_be_taken(daemon: Daemon) -> None:
    other = (await asyncio.to_thread(make_token, daemon, "observe"))["token"]
    async with client(daemon, client_id="desk"), client(daemon, client_id="desk", token=other) as second:
        assert second.welcome["client_id"] != "desk"


async def test_a_command_may_name_its_machine(daemon: Daemon) -> None:
    rule = {"effect": "deny", "pattern": "Bash(named:*)"}
    async with client(daemon) as socket:
        other = await socket.command("add_rule", **rule, runner_id="elsewhere")
        assert (other["ok"], other["error"]["kind"]) == (False, "not_found")
        own = await socket.command("add_rule", **rule, runner_id=socket.welcome["runner_id"])
        assert (own["ok"], own["result"]["runner_id"]) == (True, socket.welcome["runner_id"])


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


async def order(daemon: Daemon, client_id: str, **body: Any) -> tuple[int, Json]:
    return await asyncio.to_thread(daemon.api, "POST", f"/clients/{client_id}/commands", {"kind": "open", **body})


async def test_a_command_reaches_one_client_once_and_returns_its_answer(daemon: Daemon) -> None:
    named: Json = {"client_id": "editor", "capabilities": ["commands"]}
    async with client(daemon, **named) as older, client(daemon, **named) as editor:
        answer = asyncio.create_task(order(daemon, "editor", target="a.py", payload={"line": 3}))
        command = await editor.until("command")
        assert (command["kind"], command["target"], command["payload"]) == ("open", "a.py", {"line": 3})
        await editor.send({"type": "ack", "id": command["id"], "ok": False, "error": "no such file"})
        status, body = await answer
        assert (status, body["ok"], body["error"], body["id"]) == (200, False, "no such file", command["id"])
        await older.send({"type": "ping", "id": 1})
        assert (await older.read())["type"] == "pong"
        await editor.send({"type": "ack", "id": command["id"]})
        assert "no command of this id" in (await editor.until("notice"))["message"]


async def test_a_command_without_a_client_that_takes_it_is_refused(daemon: Daemon) -> None:
    async with client(daemon, client_id="deaf"):
        for name in ("deaf", "nobody"):
            status, body = await order(daemon, name)
            assert (status, body["error"]["kind"]) == (409, "no_client")


async def test_a_command_that_is_not_answered_says_so(daemon: Daemon) -> None:
    async with client(daemon, client_id="slow", capabilities=["commands"]) as slow:
        status, body = await order(daemon, "slow", seconds=0.05)
        assert (status, body["error"]["kind"]) == (409, "no_answer")
        leaves = asyncio.create_task(order(daemon, "slow", seconds=60))
        await slow.until("command")
        await slow.until("command")
    status, body = await leaves
    assert (status, "left before it answered" in body["error"]["message"]) == (409, True)


async def test_only_control_may_send_commands(daemon: Daemon) -> None:
    token = (await asyncio.to_thread(make_token, daemon, "observe", "approve"))["token"]
    async with client(daemon, client_id="editor2", capabilities=["commands"]):
        path = "/api/v1/clients/editor2/commands"
        headers = [bearer(token), ("Content-Type", "application/json")]
        answer = await asyncio.to_thread(send, daemon.port, "POST", path, headers, b'{"kind":"open"}')
        assert answer.status == 403


async def test_a_client_that_comes_late_gets_the_text_so_far(daemon: Daemon) -> None:
    pieces = [{"message_id": "m1", "index": n, "delta": text} for n, text in enumerate(("hel", "lo"))]
    for piece in pieces:
        body = {"session_id": "speaks", "hook_event_name": "MessageDisplay", "final": False, **piece}
        await asyncio.to_thread(daemon.hook, body)
    async with client(daemon, "streams:speaks") as at_hello, client(daemon) as later:
        await later.send({"type": "subscribe", "topics": ["streams:speaks"]})
        for socket in (at_hello, later):
            assert (await socket.until("stream"))["data"]["delta"] == "hello"


def passes(daemon: Daemon) -> bool:
    """True when the request of a headless session is answered at once with no opinion."""
    return daemon.hook(permission("ls", "headless")) == (204, b"")


async def test_headless_sessions_wait_only_while_a_person_sees_a_surface(tmp_path: Path) -> None:
    with Daemon(tmp_path / "home", env={"QUARTERDECK_DECIDE_HOLD": "auto"}) as daemon:
        for _ in range(3):
            for path in ("/metrics", "/api/v1/stats"):
                scraped = await asyncio.to_thread(send, daemon.port, "GET", path, [bearer(daemon.token)])
                assert scraped.status == 200
        assert await asyncio.to_thread(passes, daemon)
        async with client(daemon) as socket:
            await socket.send([{"type": "visible", "visible": False}, {"type": "ping", "id": 1}])
            await socket.until("pong")
            assert await asyncio.to_thread(passes, daemon)
            await socket.send([{"type": "visible", "visible": True}, {"type": "ping", "id": 2}])
            await socket.until("pong")
            held = await asyncio.to_thread(daemon.hold, permission("ls", "headless"))
            await asyncio.to_thread(daemon.until_pending, 1)
            held.close()
