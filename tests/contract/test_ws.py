"""`/ws` of a real daemon: who is let in, what they are shown, and what they may order."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from quarterdeck.api.live.websocket import CHECK_SECONDS
from tests.support.access import Page, decide_a_thousand, expired_token, make_token, revoked_token
from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.failpoints import faulty
from tests.support.ws_client import Socket, following, hello, opened, refused


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("ws") / "home") as running:
        running.hook(prompt("begin", "first"))
        yield running
        assert "Traceback" not in running.stderr()


@asynccontextmanager
async def asking(daemon: Daemon, command: str) -> AsyncIterator[Json]:
    """A pending request."""
    held = await asyncio.to_thread(daemon.hold, permission(command, "asks"))
    try:
        found = await asyncio.to_thread(until, lambda: [r for r in daemon.pending() if _asks(r, command)])
        yield found[0]
    finally:
        held.close()
        await asyncio.to_thread(until, lambda: not [r for r in daemon.pending() if _asks(r, command)])


def _asks(request: Json, command: str) -> bool:
    return bool(request["tool_input"].get("command") == command)


async def post(daemon: Daemon, words: str, session: str = "first") -> int:
    """Record an event and return the position after it."""
    await asyncio.to_thread(daemon.hook, prompt(words, session))
    return await asyncio.to_thread(last, daemon)


def last(daemon: Daemon) -> int:
    return int(daemon.api("GET", "/feed?before=9007199254740991&limit=1")[1]["events"][0]["seq_no"])


async def test_a_greeting_a_snapshot_and_what_changes(daemon: Daemon) -> None:
    async with opened(daemon) as client:
        await client.send(hello(daemon.token))
        greeting, shot = await client.read(), await client.read()
        assert (greeting["protocol"], greeting["resume"], greeting["seq_no"]) == (2, "ok", last(daemon))
        assert {"daemon_version", "runner_id"} <= greeting.keys()
        assert shot["type"] == "snapshot"
        assert "first" in {s["session_id"] for s in shot["sessions"]}
        assert shot["requests"] == []
        seq_no = await post(daemon, "something")
        event = await client.until("event")
        assert event["event"]["seq_no"] == greeting["seq_no"] + 1
        assert (await client.until("session"))["session"]["session_id"] == "first"
        assert seq_no > greeting["seq_no"]


async def test_a_client_sees_its_topics_only(daemon: Daemon) -> None:
    for topics in (["feed"], ["requests"], ["sessions"], []):
        async with following(daemon, topics=topics) as client:
            shot = await client.read()
            assert set(shot) == {"type"} | (set(topics) & {"requests", "sessions"})
            async with asking(daemon, "topic"):
                await client.send({"type": "ping", "id": 1})
                kinds = {(await client.read())["type"] for _ in topics}
            assert kinds <= {
                "pong",
                "snapshot",
                *(topic.removesuffix("s").replace("feed", "event") for topic in topics),
            }


async def test_an_unknown_topic_is_named_and_a_stream_needs_a_plain_id(daemon: Daemon) -> None:
    async with opened(daemon) as client:
        await client.send(hello(daemon.token, topics=["nonsense", "streams:s1", "streams:../etc", "x" * 500]))
        output = [await client.read() for _ in range(5)]
        assert [m["message"][:30] for m in output[2:]] == [
            "unknown topic: nonsense",
            "unknown topic: streams:../etc",
            "unknown topic: xxxxxxxxxxxxxxx",
        ]


async def test_a_request_is_pushed_when_it_opens_and_when_it_ends(daemon: Daemon) -> None:
    async with following(daemon, topics=["requests"]) as client:
        async with asking(daemon, "pushed") as request:
            opened_one = (await client.until("request"))["request"]
            assert (opened_one["request_id"], opened_one["digest"]) == (request["request_id"], request["digest"])
            async with following(daemon, topics=["requests"]) as late:
                assert [r["request_id"] for r in (await late.read())["requests"]] == [request["request_id"]]
        over = await client.request_until(status="withdrawn")
        assert over["request_id"] == request["request_id"]


@pytest.mark.law("D7")
async def test_the_delivery_of_a_decision_is_pushed_too(daemon: Daemon) -> None:
    async with following(daemon, topics=["requests"]) as client, asking(daemon, "make tea") as request:
        await client.request_until(status="pending")
        await asyncio.to_thread(daemon.decide, request, "allow")
        assert (await client.request_until(status="decided"))["decision"]["delivery"] == "sent"
        ran = {**permission("make tea", "asks"), "hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}
        await asyncio.to_thread(daemon.hook, ran)
        assert (await client.until("request"))["request"]["decision"]["delivery"] == "confirmed"


async def test_partial_agent_output_is_streamed_to_its_subscribers(daemon: Daemon) -> None:
    piece = {"session_id": "talks", "hook_event_name": "MessageDisplay", "message": "hel"}
    async with following(daemon, topics=["streams:talks"]) as near, following(daemon, topics=["streams:x"]) as far:
        await near.read()
        await asyncio.to_thread(daemon.hook, piece)
        assert (await near.until("stream"))["session_id"] == "talks"
        await far.read()
        await far.send({"type": "ping", "id": "only"})
        assert await far.read() == {"type": "pong", "id": "only"}


@pytest.mark.law("A7")
async def test_no_client_is_served_before_a_valid_hello(daemon: Daemon) -> None:
    token = daemon.token
    wrong: list[object] = [hello(None), hello("wrong"), hello(expired_token(daemon)), hello(revoked_token(daemon))]
    wrong += [hello(Page(daemon).secret), {"type": "ping"}, {**hello(token), "type": "hallo"}, 1, "x", None]
    wrong += [{"type": "command", "name": "decide", "args": {}, "token": token}, {**hello(None), "token": 7}]
    for first in wrong:
        async with opened(daemon) as client:
            await client.send(first)
            assert (await client.closed())[0] == 4401
    for text in ("", "{", "[" * 100_000, '{"type":"hello","type":"hello"}', "NaN", b"\xff\xfe", b"\x00"):
        async with opened(daemon) as client:
            await client.connection.send(text)
            assert (await client.closed())[0] == 4401


@pytest.mark.law("A7")
async def test_a_silent_client_is_disconnected(daemon: Daemon) -> None:
    started = time.monotonic()
    async with opened(daemon) as client:
        assert await client.closed() == (4401, "no hello within 5 seconds")
    assert time.monotonic() - started > 4.5


@pytest.mark.law("A9")
async def test_the_scope_must_be_observe(daemon: Daemon) -> None:
    for token in (daemon.hook_token, make_token(daemon, "approve", "admin")["token"]):
        async with opened(daemon) as client:
            await client.send(hello(token))
            assert (await client.closed())[0] == 4403
        assert (await refused(daemon, Authorization=f"Bearer {token}"))[0] == 403


async def test_a_wrong_protocol_is_named_to_authenticated_clients_only(daemon: Daemon) -> None:
    for protocol, token, code in ((1, daemon.token, 4406), (3, daemon.token, 4406), (1, "wrong", 4401)):
        async with opened(daemon) as client:
            await client.send(hello(token, protocol=protocol))
            assert (await client.closed())[0] == code


@pytest.mark.law("A4")
async def test_foreign_hosts_and_origins_are_refused_at_the_upgrade(daemon: Daemon) -> None:
    own = {"Authorization": f"Bearer {daemon.token}", "Cookie": Page(daemon).cookie[1]}
    for origin in ("null", "https://evil.example", "http://127.0.0.1:1", f"https://127.0.0.1:{daemon.port}"):
        assert (await refused(daemon, Origin=origin, **own))[1]["kind"] == "foreign_origin"
    for host in ("evil.example", f"evil.example:{daemon.port}", f"127.0.0.1.nip.io:{daemon.port}", "127.0.0.1"):
        status, error = await refused(daemon, host=host, **own)
        assert (status, error["kind"]) == (421, "foreign_host")
    assert (await refused(daemon, Authorization="Bearer wrong"))[1]["kind"] == "unauthorized"
    assert (await refused(daemon, path="/ws/", **own))[0] == 404
    assert (await refused(daemon, path=f"/api/v1/feed?token={daemon.token}"))[0] == 404


async def test_a_page_connects_by_its_cookie_and_others_by_a_header(daemon: Daemon) -> None:
    page = Page(daemon)
    good = [{"Cookie": page.cookie[1], "Origin": daemon.url}, {"Authorization": f"Bearer {daemon.token}"}]
    for headers in good:
        async with opened(daemon, **headers) as client:
            await client.send(hello(None))
            assert (await client.read())["type"] == "hello"
    other = {"Cookie": page.cookie[1], "Sec-Fetch-Site": "same-site"}
    async with opened(daemon, **other) as client:
        await client.send(hello(None))
        assert (await client.closed())[0] == 4401


@pytest.mark.law("E6")
async def test_a_client_that_was_away_gets_missed_events_or_a_gap(daemon: Daemon) -> None:
    before = last(daemon)
    for n in range(600):
        await asyncio.to_thread(daemon.hook, prompt(f"missed {n}", "away"))
    end = last(daemon)
    async with following(daemon, after=before, topics=["feed"]) as client:
        assert await client.events_until(end) == list(range(before + 1, end + 1))
    async with following(daemon, after=0, topics=["feed"]) as client:
        assert await client.events_until(end) == list(range(1, end + 1))
    for beyond in (end + 1, 2**62, -1):
        async with opened(daemon) as client:
            await client.send(hello(daemon.token, after=beyond, topics=["feed"]))
            greeting = await client.read()
            assert (greeting["resume"], greeting["seq_no"]) == ("gap", end)
            assert (await client.read())["type"] == "snapshot"
            end = await post(daemon, "after the gap")
            assert (await client.events_until(end))[-1] == end


@pytest.mark.law("E6")
async def test_a_client_that_connects_during_a_flood_gets_each_event_once_and_in_order(daemon: Daemon) -> None:
    start, clients, poured, greeted = last(daemon), 30, 0, 0

    async def pour() -> None:
        """Send events without a pause while clients connect, and a few until every one is; then one more, which marks
        the end. On a busy machine a flood that only grew would never be caught up with."""
        nonlocal poured
        while poured < 1200 or greeted < clients:
            await asyncio.to_thread(daemon.hook, prompt(f"poured {poured}", f"p{poured % 7}"))
            poured += 1
            await asyncio.sleep(0.0 if poured < 1200 else 0.05)
        await asyncio.to_thread(daemon.hook, prompt("the end", "p0"))

    async def follow(number: int) -> tuple[int, list[int]]:
        nonlocal greeted
        while poured < 35 * number:
            await asyncio.sleep(0.001)
        after = start if number % 2 else None
        async with opened(daemon) as client:
            await client.send(hello(daemon.token, after=after))
            first = (await client.read())["seq_no"] if after is None else after
            greeted += 1
            return first, await client.events_until_prompt("the end")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(pour())
        followed = [tasks.create_task(follow(number)) for number in range(clients)]
    [end] = {got[-1] for _, got in map(asyncio.Task.result, followed)}
    for first, got in map(asyncio.Task.result, followed):
        assert got == list(range(first + 1, end + 1))


async def test_events_of_one_moment_come_in_one_frame(daemon: Daemon) -> None:
    """Send thirty hook calls that all arrive before the daemon reads the first."""
    async with following(daemon, topics=["feed"]) as client:
        await client.read()
        before, frames = last(daemon), client.frames
        with daemon.paused():
            held = [daemon.hold(prompt(f"burst {n}", "burst")) for n in range(30)]
        for hook in held:
            assert (await asyncio.to_thread(hook.answer))[0] in (200, 204)
        await client.events_until(last(daemon))
        assert last(daemon) - before >= 30
        assert client.frames - frames <= 12


async def test_a_decision_over_the_socket_and_every_way_it_can_fail(daemon: Daemon) -> None:
    async with asking(daemon, "decided") as request, following(daemon, topics=["requests"]) as client:
        named = {"request_id": request["request_id"], "decision": "allow", "digest": request["digest"]}
        wrong = [
            ({**named, "digest": "0" * 64}, "digest_mismatch"),
            ({**named, "request_id": "nothing"}, "not_found"),
            ({**named, "decision": "maybe"}, "invalid"),
            ({**named, "extra": 1}, "invalid"),
            ({**named, "interrupt": True}, "invalid"),
            ({}, "invalid"),
        ]
        for args, kind in wrong:
            ack = await client.command("decide", **args)
            assert (ack["ok"], ack["error"]["kind"]) == (False, kind)
        assert (await client.command("dance"))["error"]["kind"] == "unknown_command"
        ack = await client.command("decide", **named)
        assert (ack["ok"], ack["result"]["decision"], ack["result"]["by"]) == (True, "allow", "owner via cli")
        ack = await client.command("decide", **named)
        assert ack["error"]["kind"] == "already_decided"
        assert ack["error"]["decision"]["by"] == "owner via cli"


async def test_a_command_does_what_its_route_does_with_the_same_scope(daemon: Daemon, tmp_path: Path) -> None:
    observer = make_token(daemon, "observe")["token"]
    async with following(daemon, topics=[], token=observer) as client:
        ack = await client.command("trust_project", path=str(tmp_path))
        assert (ack["error"]["kind"], ack["error"]["scope"]) == ("forbidden", "control")
    async with following(daemon, topics=[]) as client:
        ack = await client.command("trust_project", path=str(tmp_path))
        assert (ack["ok"], ack["result"]["path"], ack["result"]["trust"]) == (True, str(tmp_path), "full")
        ack = await client.command("scan_projects", wait=0)
        assert ack["result"]["state"] in ("running", "done")
        ack = await client.command("discard_worktree", session_id="nothing", force=True)
        assert ack["error"]["kind"] == "not_found"
        ack = await client.command("untrust_project", folder=str(tmp_path))
        assert (ack["error"]["kind"], ack["error"]["field"]) == ("invalid", "folder")


async def test_several_messages_may_come_in_one_frame(daemon: Daemon) -> None:
    async with opened(daemon) as client:
        await client.send([hello(daemon.token, topics=[]), {"type": "ping", "id": 1}, {"type": "ping", "id": 2}])
        output = [(await client.read())["type"] for _ in range(4)]
        assert sorted(output) == ["hello", "pong", "pong", "snapshot"]


@pytest.mark.law("D1")
async def test_a_client_that_may_only_observe_cannot_decide(daemon: Daemon) -> None:
    observer = make_token(daemon, "observe")["token"]
    approver = make_token(daemon, "observe", "approve")["token"]
    async with asking(daemon, "guarded") as request:
        named = {"request_id": request["request_id"], "decision": "allow", "digest": request["digest"]}
        async with following(daemon, token=observer) as client:
            ack = await client.command("decide", **named)
            assert (ack["error"]["kind"], ack["error"]["scope"]) == ("forbidden", "approve")
        async with following(daemon, token=approver) as client:
            ack = await client.command("decide", **named, updated_input={"command": "other"})
            assert (ack["error"]["kind"], ack["error"]["scope"]) == ("forbidden", "edit")
        assert [r["request_id"] for r in daemon.pending()] == [request["request_id"]]


@pytest.mark.law("A10")
async def test_decisions_over_the_socket_have_the_same_rate_limit(daemon: Daemon) -> None:
    token = make_token(daemon, "observe", "approve")["token"]
    async with following(daemon, topics=[], token=token) as client:
        assert (await client.command("decide"))["error"]["kind"] == "invalid"
        await asyncio.to_thread(until, lambda: decide_a_thousand(daemon, token).status == 429)
        kinds = set()
        for _ in range(30):
            await client.send([{"type": "command", "id": n, "name": "decide", "args": {}} for n in range(100)])
            kinds |= {(await client.until("ack"))["error"]["kind"] for _ in range(100)}
    assert kinds == {"invalid", "too_fast"}


@pytest.mark.parametrize("wrong", [{"after": "3"}, {"after": 1.5}, {"topics": None}, {"protocol": "2"}])
async def test_a_bad_hello_with_a_valid_token_gets_the_reason(daemon: Daemon, wrong: Json) -> None:
    async with opened(daemon) as client:
        await client.send({**hello(daemon.token), **wrong})
        assert (await client.closed())[0] == 4400


@pytest.mark.law("I4")
async def test_no_frame_blocks_other_clients(daemon: Daemon) -> None:
    many = b"[" + b",".join([b'{"type":"ping"}'] * 5000) + b"]"
    async with following(daemon, topics=[]) as client:
        await client.connection.send(many.decode())
        assert (await client.closed())[0] == 4400
    async with opened(daemon) as stranger:
        await stranger.connection.send("[" + ",".join(["{}"] * 20_000) + "]")
        assert (await stranger.closed())[0] == 4401


@pytest.mark.law("A7")
@pytest.mark.parametrize("how", ["revoked", "signed out"])
async def test_a_revoked_credential_closes_its_connections(daemon: Daemon, how: str) -> None:
    page = Page(daemon)
    made = make_token(
        daemon,
        "observe",
        "approve",
    )
    headers = {"Cookie": page.cookie[1]} if how == "signed out" else {}
    async with opened(daemon, **headers) as client:
        await client.send(hello(None if headers else made["token"]))
        assert (await client.read())["type"] == "hello"
        if how == "revoked":
            await asyncio.to_thread(daemon.api, "DELETE", f"/tokens/{made['token_id']}")
            assert (await asyncio.gather(client.closed(), client.send({"type": "command", "name": "decide"})))[0][
                0
            ] == 4401
        elif how == "signed out":
            proof = (page.csrf, ("Content-Type", "application/json"))
            answer = await asyncio.to_thread(lambda: page.call("POST", "/api/v1/logout", *proof, body=b"{}"))
            assert answer.status == 200
        assert (await client.closed())[0] == 4401
    assert CHECK_SECONDS < 5


@pytest.mark.law("A7")
async def test_an_expired_token_closes_its_connections(tmp_path: Path) -> None:
    launch = faulty("--clock-jump", "7200", "--jump-when", str(tmp_path / "jump"))
    with Daemon(tmp_path / "home", launch=launch) as daemon:
        async with opened(daemon) as client:
            await client.send(hello(make_token(daemon, "observe", seconds=3600)["token"]))
            assert (await client.read())["type"] == "hello"
            (tmp_path / "jump").touch()
            assert (await client.closed())[0] == 4401


@pytest.mark.law("I1")
@pytest.mark.law("I4")
async def test_no_message_hurts_the_daemon(daemon: Daemon) -> None:
    bad: list[str | bytes] = ["{", "", "[" * 200_000, '{"a":1,"a":2}', "\x00", b"\xff\xff", b"", "null", "1e999"]
    bad += ['{"type":"command","id":' + "9" * 400 + "}", '{"type":"hello"}', '{"type":1}', '["x"]', "{}"]
    bad += [json.dumps({"type": "event"}), '{"type":"ping","id":' + "[" * 70 + "]" * 70 + "}"]
    for content in bad:
        async with following(daemon, topics=[]) as client:
            await client.connection.send(content)
            code, reason = await client.closed()
            assert (code, bool(reason)) == (4400, True), content[:40]
    async with following(daemon, topics=[]) as client:
        with suppress(ConnectionClosed):
            await client.connection.send(b"x" * (5 << 20))
        assert (await client.closed())[0] == 1009
    odd = [{"type": "command"}, {"type": "command", "id": [1], "name": {"a": 1}, "args": 7}]
    async with following(daemon, topics=[]) as client:
        await client.read()
        for order in odd:
            await client.send(order)
            assert (await client.until("ack"))["error"]["kind"] == "unknown_command"
    assert daemon.api("GET", "/healthz") == (200, {"status": "ok"})


def poke(daemon: Daemon, head: bytes, frame: bytes) -> bytes:
    """The response to these bytes, sent in two pieces."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=30) as raw, suppress(ConnectionError):
        raw.sendall(head)
        answer = raw.recv(4096)
        raw.sendall(frame)
        with suppress(OSError):
            raw.shutdown(socket.SHUT_WR)
        while chunk := raw.recv(4096):
            answer += chunk
        return answer
    return b""


@pytest.mark.law("I4")
def test_a_broken_websocket_is_dropped_and_nothing_of_it_is_logged(daemon: Daemon) -> None:
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    host = b"Host: 127.0.0.1:%d\r\n" % daemon.port
    upgrade = host + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    heads = [
        b"GET /ws?token=s3cret HTTP/1.1\r\n" + upgrade,
        b"POST /ws HTTP/1.1\r\n" + upgrade + key,
        b"GET /ws?\xff HTTP/1.1\r\n" + upgrade + key,
        b"GET /ws%ff%00 HTTP/1.1\r\n" + upgrade + key,
        b"GET /ws HTTP/1.1\r\n" + upgrade + key + b"X: \xff\r\n",
        b"GET /ws HTTP/1.1\r\n" + host + b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
        b"CONNECT /ws HTTP/1.1\r\n" + host,
        b"GET /ws?token=s3cret HTTP/1.1\r\n" + upgrade + key,
    ]
    frames = [b"", b"\x81\xfe", b"\xc1\x80abcd", b"\x81\x01x", b"\x83\x80abcd", b"\x89\xff" + b"\xff" * 20]
    frames += [b"\x81\x81abcd\x9e", b"\x88\x82abcd\x61\x62", b"\x80\x80abcd"]
    answers = [poke(daemon, head + b"\r\n", frame) for head in heads for frame in frames]
    assert [answer for answer in answers if b" 101 " in answer]
    assert daemon.api("GET", "/healthz")[0] == 200
    output = daemon.stderr() + (daemon.home / "log" / "daemon.log").read_text()
    assert not [word for word in ("Traceback", "s3cret", "/ws") if word in output]


async def test_a_hundred_clients_follow_at_once(daemon: Daemon) -> None:
    async with AsyncExitStack() as stack:
        entered = await asyncio.gather(*(stack.enter_async_context(following(daemon)) for _ in range(100)))
        clients: list[Socket] = list(entered)
        start = last(daemon)
        for n in range(50):
            await asyncio.to_thread(daemon.hook, prompt(f"to all {n}", "all"))
        end = last(daemon)
        got = await asyncio.gather(*(client.events_until(end) for client in clients))
        assert [[n for n in one if n > start] for one in got] == [list(range(start + 1, end + 1))] * 100
