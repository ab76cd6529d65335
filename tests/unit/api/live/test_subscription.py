"""What one connection follows, while its topics change."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from quarterdeck.api.backend import Backend
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.api.live.subscription import MOST_CHANGES, Subscription, TopicChange
from quarterdeck.api.live.topics import MAX_TOPICS, Closed


class Feed:
    """A log without events."""

    seq_no = 7

    async def can_resume(self, after: int) -> bool:
        return True


class Page:
    """A client that keeps every message."""

    def __init__(self) -> None:
        nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
        backend = Backend(**nothing | {"runner_id": "otter", "feed": Feed()})
        source = MachineSource(backend)
        self.live = Broadcaster(source)
        self.got: list[Any] = []
        self.followed: list[frozenset[str]] = []
        self.subscription = Subscription(source, self.live, self, self._snapshots, self.followed.append)

    def _snapshots(self, topics: frozenset[str]) -> list[bytes]:
        return [json.dumps({"type": "snapshot", "of": sorted(topics)}).encode()]

    async def send_messages(self, messages: list[bytes]) -> None:
        self.got += map(json.loads, messages)
        await asyncio.sleep(0)

    async def send_text(self, text: str) -> None:
        value = json.loads(text)
        self.got += value if isinstance(value, list) else [value]
        await asyncio.sleep(0)

    async def taken(self) -> None:
        pass

    async def until(self, kind: str) -> list[Any]:
        """Every message up to the first of this type; they are taken off."""
        while not any(one["type"] == kind for one in self.got):
            await asyncio.sleep(0)
        end = next(n for n, one in enumerate(self.got) if one["type"] == kind) + 1
        got, self.got = self.got[:end], self.got[end:]
        return got


async def started(*topics: str) -> tuple[Page, asyncio.Task[None]]:
    page = Page()
    task = asyncio.create_task(page.subscription.run(list(topics), None, lambda seq_no, resumes: [b'{"type":"hello"}']))
    while not page.live.listeners:
        await asyncio.sleep(0)
    await page.until("snapshot")
    return page, task


async def test_what_came_before_a_change_is_sent_before_it() -> None:
    page, task = await started("streams:s1")
    for n in range(3):
        page.live.stream("s1", "message", n)
    page.subscription.change(TopicChange(["streams:s2", "sessions"], ["streams:s1"]))
    page.live.stream("s1", "message", "also before")
    page.live.stream("s2", "message", "nobody follows this yet")
    got = await page.until("subscribed")
    assert [one["data"] for one in got if one["type"] == "stream"] == [0, 1, 2, "also before"]
    assert [one["type"] for one in got[-2:]] == ["snapshot", "subscribed"]
    assert got[-1] == {"type": "subscribed", "topics": ["sessions", "streams:s2"], "cursor": 7}
    page.live.stream("s1", "message", "not followed any more")
    page.live.stream("s2", "message", "followed")
    assert [one["data"] for one in await page.until("stream")] == ["followed"]
    assert page.followed == [frozenset({"streams:s1"}), frozenset({"sessions", "streams:s2"})]
    task.cancel()


async def test_topics_without_a_state_need_no_snapshot() -> None:
    page, task = await started()
    page.subscription.change(TopicChange(["feed", "nonsense"], []))
    assert [one["type"] for one in await page.until("subscribed")] == ["notice", "subscribed"]
    task.cancel()


async def test_the_topics_are_bounded() -> None:
    page, task = await started("feed")
    page.subscription.change(TopicChange([f"streams:s{n}" for n in range(2 * MAX_TOPICS)], []))
    *_, notice, answer = await page.until("subscribed")
    assert notice["message"] == f"at most {MAX_TOPICS} topics are followed"
    assert len(answer["topics"]) == MAX_TOPICS
    task.cancel()


async def test_a_client_that_only_changes_topics_is_cut_off() -> None:
    page = Page()
    for _ in range(MOST_CHANGES):
        page.subscription.change(TopicChange(["feed"], []))
    with pytest.raises(Closed, match="too slow"):
        page.subscription.change(TopicChange(["feed"], []))
