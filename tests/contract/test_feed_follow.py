"""The WebSocket client and `qd feed -f`: a restart loses and repeats nothing."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from quarterdeck.cli.commands.event_feed import is_match
from quarterdeck.errors import NoDaemon, Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost
from tests.support.access import make_token
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json, permission, prompt, until

Item = Connected | Lost | LiveMessage


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path / "home") as running:
        yield running


def live_of(daemon: Daemon, topics: list[str], after: int | None = None) -> LiveClient:
    return LiveClient(lambda: Client.endpoint(daemon.home), client="tui", topics=topics, after=after)


async def first_of(following: AsyncGenerator[Item], kind: type[Item]) -> Item:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for message in following:
            if isinstance(message, kind):
                return message
    raise AssertionError("it ended")


async def events(following: AsyncGenerator[Item], words: str) -> list[int]:
    """The positions of all events up to the prompt with this text."""
    got: list[int] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for message in following:
            if isinstance(message, LiveMessage) and message.kind == "event":
                got.append(message.body["event"]["seq_no"])
                if message.body["event"]["data"].get("prompt") == words:
                    return got
    raise AssertionError("it ended")


@pytest.mark.law("E6")
@pytest.mark.parametrize("how", ["stop", "kill9"])
async def test_a_restart_loses_nothing_and_repeats_nothing(daemon: Daemon, how: str) -> None:
    live = live_of(daemon, ["feed"], after=0)
    async with aclosing(live.follow()) as following:
        assert isinstance(await anext(following), Connected)
        await asyncio.to_thread(daemon.hook, prompt("before"))
        got = await events(following, "before")
        await asyncio.to_thread(getattr(daemon, how))
        assert isinstance(await first_of(following, Lost), Lost)
        await asyncio.to_thread(daemon.restart)
        await asyncio.to_thread(daemon.hook, prompt("while we were away"))
        back = await first_of(following, Connected)
        assert isinstance(back, Connected)
        assert back.resumed
        await asyncio.to_thread(daemon.hook, prompt("after"))
        got += await events(following, "after")
    assert got == list(range(1, got[-1] + 1))


async def test_a_client_ahead_of_the_log_gets_a_gap_and_continues(daemon: Daemon) -> None:
    async with aclosing(live_of(daemon, ["feed"], after=10_000).follow()) as following:
        first = await anext(following)
        assert isinstance(first, Connected)
        assert not first.resumed
        await asyncio.to_thread(daemon.hook, prompt("next"))
        assert (await events(following, "next"))[0] == first.seq_no + 1


async def test_a_revoked_token_ends_the_connection(daemon: Daemon) -> None:
    made = make_token(daemon, "observe")
    live = LiveClient(lambda: (daemon.url, made["token"]), client="tui", topics=["feed"])
    async with aclosing(live.follow()) as following:
        assert isinstance(await anext(following), Connected)
        daemon.api("DELETE", f"/tokens/{made['token_id']}")
        with pytest.raises(Refused, match="not accepted"):
            await first_of(following, Lost)
    with pytest.raises(NoDaemon):
        await live.command("decide")


async def test_commands_fail_when_the_daemon_goes_away(daemon: Daemon) -> None:
    held = await asyncio.to_thread(daemon.hold, permission("ls"))
    live = live_of(daemon, ["requests"])
    async with aclosing(live.follow()) as following:
        assert isinstance(await anext(following), Connected)
        reading = asyncio.create_task(first_of(following, Lost))
        request = (await asyncio.to_thread(daemon.until_pending, 1))[0]
        named = {"request_id": request["request_id"], "digest": request["digest"]}
        with pytest.raises(Refused, match="decision"):
            await live.command("decide", **named, decision="perhaps")
        made = await live.command("decide", **named, decision="deny", message="no")
        assert (made["decision"], made["by"]) == ("deny", "owner via tui")
        assert b'"deny"' in (await asyncio.to_thread(held.answer))[1]
        os.kill(daemon.pid, signal.SIGSTOP)
        ordered = asyncio.create_task(live.command("decide", **named, decision="deny"))
        await asyncio.sleep(0.1)
        daemon.kill9()
        with pytest.raises(NoDaemon):
            await ordered
        assert isinstance(await reading, Lost)


async def test_the_client_keeps_trying_while_no_daemon_listens(tmp_path: Path) -> None:
    live = LiveClient(lambda: Client.endpoint(tmp_path), client="tui", topics=["feed"])
    async with aclosing(live.follow()) as following:
        messages = [await anext(following) for _ in range(3)]
    assert [type(one) for one in messages] == [Lost, Lost, Lost]


@pytest.fixture
def feed(daemon: Daemon) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "feed", "-f", "--json", "--after", "0"]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        yield running
        running.terminate()


def lines_until(feed: subprocess.Popen[str], words: str) -> list[int]:
    assert feed.stdout is not None
    got: list[int] = []
    for line in feed.stdout:
        event = json.loads(line)
        got.append(event["seq_no"])
        if event["data"].get("prompt") == words:
            return got
    raise AssertionError("it ended")


def test_the_followed_feed_continues_after_a_restart(daemon: Daemon, feed: subprocess.Popen[str]) -> None:
    daemon.hook(prompt("one"))
    got = lines_until(feed, "one")
    daemon.stop()
    daemon.restart()
    daemon.hook(prompt("two"))
    got += lines_until(feed, "two")
    assert got == list(range(1, got[-1] + 1))


def test_a_filtered_feed_in_a_pipe_shows_each_line_at_once(daemon: Daemon) -> None:
    daemon.hook(prompt("something", "other"))
    daemon.hook(prompt("begin", "mine"))
    env = {**os.environ, "QUARTERDECK_HOME": str(daemon.home)}
    command = [sys.executable, "-m", "quarterdeck", "feed", "-f", "--session", "mine", "--search", "sails ropes"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True) as running:
        assert running.stdout is not None
        out = running.stdout.fileno()
        shown = ""

        def is_shown() -> bool:
            nonlocal shown
            for words in ("sails alone", "Ropes and SAILS"):
                daemon.hook(prompt(words, "mine"))
            shown += os.read(out, 4096).decode() if select.select([out], [], [], 0)[0] else ""
            return "Ropes and SAILS" in shown

        until(is_shown, every=0.2)
        running.terminate()
    assert "sails alone" not in shown


def test_a_followed_event_is_filtered_like_the_daemon_does() -> None:
    data = {"tool_name": "Bash", "tool_input": {"command": "mend sails"}, "tool_use_id": "ropes"}
    event = {"session_id": "s", "actor_id": "agent:root", "kind": "tool.pre", "at": 50.0, "title": "Bash", "data": data}
    taken: list[Json] = [
        {},
        {"tool": "Bash"},
        {"kind": ["tool.pre"]},
        {"q": "SAILS men"},
        {"since": 50.0, "until": 50.0},
    ]
    assert all(is_match(event, filters) for filters in taken)
    left: list[Json] = [{"tool": "Read"}, {"kind": ["tool.post"]}, {"q": "ropes"}, {"since": 51.0}, {"until": 49.0}]
    assert not any(is_match(event, filters) for filters in [*left, {"actor_id": "user"}, {"session_id": "t"}])
