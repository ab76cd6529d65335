"""Streams that the hub opens: granted, shared, and with their own credit."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from quarterdeck.api.backend import Backend
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.daemon.link.stream_sender import StreamSender
from quarterdeck.link.messages import OpenStream, RunnerStream
from tests.support.share_policies import policy


class Setting:
    """A sender without terminals, and what it has sent."""

    def __init__(self, *may: str) -> None:
        nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
        self.live = Broadcaster(cast(Any, None))
        self.sent: list[RunnerStream] = []
        self.sender = StreamSender(Backend(**nothing | {"runner_id": "box"}), self.live, policy, may, self._send)

    async def _send(self, message: RunnerStream) -> None:
        self.sent.append(message)

    async def open(self, kind: str, session: str = "open", credit: int = 1000) -> None:
        await self.sender.open(OpenStream(stream=1, session_id=session, kind=kind, credit=credit))
        await asyncio.sleep(0)

    async def until_sent(self, count: int) -> None:
        async with asyncio.timeout(30.0):
            while len(self.sent) < count:
                await asyncio.sleep(0)


@pytest.mark.law("H10")
@pytest.mark.parametrize(
    ("may", "kind", "session", "reason"),
    [
        ("observe", "terminal", "open", "hub.may lacks terminals"),
        ("approve", "text", "open", "hub.may lacks observe"),
        ("observe", "text", "titles", "not shared"),
        ("observe", "text", "closed", "not shared"),
        ("observe", "smell", "open", "no such stream"),
    ],
)
async def test_a_stream_that_may_not_be_seen_ends_with_the_reason(
    may: str, kind: str, session: str, reason: str
) -> None:
    setting = Setting(may)
    await setting.open(kind, session)
    [end] = setting.sent
    assert end.kind == "end"
    assert reason in end.data


async def test_live_text_is_sent_without_secrets_and_waits_for_credit() -> None:
    setting = Setting("observe")
    await setting.open("text", credit=1)
    setting.live.stream("open", "progress", {"text": "PASSWORD=hunter2-x"})
    await setting.until_sent(1)
    assert setting.sent[0].data == {"text": "PASSWORD=⟨redacted⟩"}
    setting.live.stream("open", "progress", {"text": "more"})
    setting.live.flush()
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(setting.sent) == 1
    setting.sender.credit(1, 10_000)
    await setting.until_sent(2)
    await setting.sender.close_all()


async def test_a_stream_that_is_closed_sends_nothing_more() -> None:
    setting = Setting("observe")
    await setting.open("text")
    setting.sender.close(1)
    await setting.sender.close_all()
    assert setting.live.listeners == 0


async def test_typing_needs_an_open_terminal() -> None:
    answer = await Setting("terminals").sender.type("terminal_input", {"session_id": "open", "data": ""})
    assert answer.status == 409
