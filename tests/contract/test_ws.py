"""`/ws` of a real daemon: who is let in, what they are shown, and what they may order."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.access import Page, decide_a_thousand, expired_token, make_token, revoked_token
from tests.support.daemon import Daemon, Json, permission, prompt, until
from tests.support.live import Socket, following, hello, opened, refused

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("ws") / "home") as running:
        running.hook(prompt("begin", "first"))
        yield running
        assert "Traceback" not in running.stderr()


@asynccontextmanager
async def asking(daemon: Daemon, command: str) -> AsyncIterator[Json]:
    """A request that waits."""
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
    """Something happens; gives the position after it."""
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
        said = [await client.read() for _ in range(5)]
        assert [m["message"][:30] for m in said[2:]] == [
            "unknown topic: nonsense",
            "unknown topic: streams:../etc",
            "unknown topic: xxxxxxxxxxxxxxx",
        ]


async def test_a_request_is_pushed_when_it_opens_and_when_it_is_over(daemon: Daemon) -> None:
    async with following(daemon, topics=["requests"]) as client:
        async with asking(daemon, "pushed") as request:
            opened_one = (await client.until("request"))["request"]
            assert (opened_one["request_id"], opened_one["digest"]) == (request["request_id"], request["digest"])
            async with following(daemon, topics=["requests"]) as late:
                assert [r["request_id"] for r in (await late.read())["requests"]] == [request["request_id"]]
            started = time.monotonic()
        over = (await client.until("request"))["request"]
        assert over["status"] == "withdrawn"
        assert time.monotonic() - started < 3


@pytest.mark.law("D7")
async def test_that_a_decision_took_effect_is_pushed_too(daemon: Daemon) -> None:
    async with following(daemon, topics=["requests"]) as client, asking(daemon, "make tea") as request:
        assert (await client.until("request"))["request"]["status"] == "pending"
        await asyncio.to_thread(daemon.decide, request, "allow")
        assert (await client.until("request"))["request"]["decision"]["delivery"] == "sent"
        ran = {**permission("make tea", "asks"), "hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}
        await asyncio.to_thread(daemon.hook, ran)
        assert (await client.until("request"))["request"]["decision"]["delivery"] == "confirmed"


async def test_what_an_agent_says_in_pieces_is_streamed_to_who_looks(daemon: Daemon) -> None:
    piece = {"session_id": "talks", "hook_event_name": "MessageDisplay", "message": "hel"}
    async with following(daemon, topics=["streams:talks"]) as near, following(daemon, topics=["streams:x"]) as far:
        await near.read()
        await asyncio.to_thread(daemon.hook, piece)
        assert (await near.until("stream"))["session_id"] == "talks"
        await far.read()
        await far.send({"type": "ping", "id": "only"})
        assert await far.read() == {"type": "pong", "id": "only"}


@pytest.mark.law("A7")
async def test_nobody_is_served_before_a_good_hello(daemon: Daemon) -> None:
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
async def test_silence_is_not_waited_for(daemon: Daemon) -> None:
    started = time.monotonic()
    async with opened(daemon) as client:
        assert await client.closed() == (4401, "no hello within 5 seconds")
    assert 4.5 < time.monotonic() - started < 7


@pytest.mark.law("A9")
async def test_the_scope_must_be_observe(daemon: Daemon) -> None:
    for token in (daemon.hook_token, make_token(daemon, "approve", "admin")["token"]):
        async with opened(daemon) as client:
            await client.send(hello(token))
            assert (await client.closed())[0] == 4403
        assert (await refused(daemon, Authorization=f"Bearer {token}"))[0] == 403


async def test_another_protocol_is_named_but_only_to_whom_we_know(daemon: Daemon) -> None:
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


async def test_a_page_comes_in_by_its_cookie_and_others_by_a_header(daemon: Daemon) -> None:
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
async def test_one_who_was_away_gets_what_they_missed_or_is_told_of_a_gap(daemon: Daemon) -> None:
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
async def test_whoever_connects_while_events_pour_in_gets_each_once_and_in_order(daemon: Daemon) -> None:
    start = last(daemon)
    done = asyncio.Event()

    async def pour() -> None:
        for n in range(1200):
            await asyncio.to_thread(daemon.hook, prompt(f"poured {n}", f"p{n % 7}"))
        done.set()

    async def follow(number: int) -> tuple[int, list[int], int]:
        await asyncio.sleep(0.05 * number)
        after = start if number % 2 else None
        async with opened(daemon) as client:
            await client.send(hello(daemon.token, after=after))
            first = (await client.read())["seq_no"] if after is None else after
            await done.wait()
            return first, await client.events_until(await asyncio.to_thread(last, daemon)), client.frames

    pouring = asyncio.create_task(pour())
    followed = await asyncio.gather(*(follow(number) for number in range(30)))
    await pouring
    end = last(daemon)
    for first, got, _ in followed:
        assert got == list(range(first + 1, end + 1))


async def test_what_happens_in_a_moment_comes_in_one_frame(daemon: Daemon) -> None:
    async with following(daemon, topics=["feed"]) as client:
        await client.read()
        before, frames = last(daemon), client.frames
        with daemon.paused():
            posting = [asyncio.to_thread(daemon.hook, prompt(f"burst {n}", "burst")) for n in range(30)]
            waiting = asyncio.gather(*posting)
            await asyncio.sleep(0.3)
        await waiting
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


async def test_several_messages_may_come_in_one_frame(daemon: Daemon) -> None:
    async with opened(daemon) as client:
        await client.send([hello(daemon.token, topics=[]), {"type": "ping", "id": 1}, {"type": "ping", "id": 2}])
        said = [(await client.read())["type"] for _ in range(4)]
        assert sorted(said) == ["hello", "pong", "pong", "snapshot"]


@pytest.mark.law("D1")
async def test_who_may_only_observe_decides_nothing(daemon: Daemon) -> None:
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
async def test_decisions_over_the_socket_have_the_same_pace(daemon: Daemon) -> None:
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
async def test_a_good_token_with_a_bad_hello_is_told_what_is_wrong(daemon: Daemon, wrong: Json) -> None:
    async with opened(daemon) as client:
        await client.send({**hello(daemon.token), **wrong})
        assert (await client.closed())[0] == 4400


@pytest.mark.law("I4")
async def test_no_frame_keeps_the_others_waiting(daemon: Daemon) -> None:
    many = b"[" + b",".join([b'{"type":"ping"}'] * 5000) + b"]"
    async with following(daemon, topics=[]) as client:
        await client.connection.send(many.decode())
        assert (await client.closed())[0] == 4400
    async with opened(daemon) as stranger:
        await stranger.connection.send("[" + ",".join(["{}"] * 20_000) + "]")
        assert (await stranger.closed())[0] == 4401


@pytest.mark.law("A7")
@pytest.mark.parametrize("how", ["revoked", "expired", "signed out"])
async def test_a_credential_that_ends_closes_what_it_opened(daemon: Daemon, how: str) -> None:
    made = make_token(daemon, "observe", "approve", seconds=1.5 if how == "expired" else None)
    page = Page(daemon)
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
        started = time.monotonic()
        assert (await client.closed())[0] == 4401
        assert time.monotonic() - started < 5


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
    """What comes back for these bytes, sent in two pieces."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=8) as raw, suppress(ConnectionError):
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
def test_what_is_no_websocket_is_dropped_and_none_of_it_is_logged(daemon: Daemon) -> None:
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
    said = daemon.stderr() + (daemon.home / "log" / "daemon.log").read_text()
    assert not [word for word in ("Traceback", "s3cret", "/ws") if word in said]


async def test_a_hundred_follow_at_once(daemon: Daemon) -> None:
    async with AsyncExitStack() as stack:
        entered = await asyncio.gather(*(stack.enter_async_context(following(daemon)) for _ in range(100)))
        clients: list[Socket] = list(entered)
        start = last(daemon)
        for n in range(50):
            await asyncio.to_thread(daemon.hook, prompt(f"to all {n}", "all"))
        end = last(daemon)
        got = await asyncio.gather(*(client.events_until(end) for client in clients))
        assert [[n for n in one if n > start] for one in got] == [list(range(start + 1, end + 1))] * 100
