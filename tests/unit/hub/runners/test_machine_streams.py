"""Streams from machines: opened on demand, with credit for what was taken, and closed with the last reader."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.errors import Refused
from quarterdeck.hub.runners.machine_streams import HubTerminals, LiveTexts
from quarterdeck.link.messages import CloseStream, OpenStream, RunnerStream, StreamCredit
from quarterdeck.wire import write_json
from tests.support.hub_parts import KeptRunner, hub_parts


def terminal(status: str = "up") -> bytes:
    return write_json({"session_id": "s1", "mode": "pty", "owned": {"status": status, "launched_at": 5.0}})


def part(runner: KeptRunner, kind: str, data: Any) -> RunnerStream:
    return RunnerStream(stream=runner.last(OpenStream).stream, session_id="s1", kind=kind, data=data)


async def test_a_paused_terminal_asks_for_no_more(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        terminals = HubTerminals(hub.streams, lambda session_id: (runner.state, terminal()))
        assert terminals.terminal("s1") == ("a-1", 5.0)
        seen: list[bytes] = []
        screen = await terminals.view("s1", 80, 24, seen.append)
        data = base64.b64encode(b"abc").decode()
        hub.streams.receive(runner.state, part(runner, "terminal", data))
        assert (seen, runner.last(StreamCredit).bytes) == ([b"abc"], 3)
        screen.pause()
        hub.streams.receive(runner.state, part(runner, "terminal", data))
        credits = len([one for one in runner.sent if isinstance(one, StreamCredit)])
        screen.resume()
        assert credits == 1
        assert len([one for one in runner.sent if isinstance(one, StreamCredit)]) == 2
        await screen.close()
        assert isinstance(runner.sent[-1], CloseStream)


async def test_a_terminal_that_has_ended_or_whose_machine_is_away_is_none(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        ended = HubTerminals(hub.streams, lambda session_id: (runner.state, terminal("down")))
        assert ended.terminal("s1") is None
        missing = HubTerminals(hub.streams, lambda session_id: None)
        with pytest.raises(Refused):
            await missing.view("s1", 80, 24, lambda data: None)


async def test_live_text_is_followed_while_a_surface_shows_its_session(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        shown: list[tuple[str, str, Any]] = []
        texts = LiveTexts(hub.streams, lambda session_id: (runner.state, b"{}"), lambda *one: shown.append(one))
        texts.follow_only({"s1"})
        texts.follow_only({"s1"})
        assert len([one for one in runner.sent if isinstance(one, OpenStream)]) == 1
        hub.streams.receive(runner.state, part(runner, "text", {"text": "I look"}))
        assert shown == [("s1", "text", {"text": "I look"})]
        hub.streams.end_all(runner.state, "gone")
        texts.follow_only({"s1"})
        assert len([one for one in runner.sent if isinstance(one, OpenStream)]) == 2
        texts.follow_only(set())
        assert isinstance(runner.sent[-1], CloseStream)
