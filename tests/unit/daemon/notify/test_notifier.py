"""The queue of each channel: bounded, and the loop never waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived, Notify
from quarterdeck.core.model.state import Settings, State
from quarterdeck.core.text.notifications import Notice, notice_for, request_summary
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.notify.http_post import NotificationFailed
from quarterdeck.daemon.notify.notifier import QUEUE, Notifier, backoff
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


class Slow:
    """A channel that sends nothing until it is released."""

    name, where = "push", "nowhere"

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()

    def problem(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        self.began.set()
        self.go_on.wait(60)
        return "sent"


class Refusing:
    """A channel that refuses every notice."""

    name, where = "push", "nowhere"

    def problem(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        raise NotificationFailed("no such topic")


@asynccontextmanager
async def waiting_request(folder: Path) -> AsyncIterator[tuple[Loop, Log, Notify]]:
    """A loop with one pending request, its log, and the effect that notifies of it."""
    log = Log.open(folder / "events.db")
    reader = Reader(folder / "events.db")
    state = State(runner_id="otter", settings=Settings(hold="always"))
    loop = Loop(state, log, reader, Deadlines(SessionsFolder(folder)), DiskReserve(folder))
    payload = {"hook_event_name": "PermissionRequest", "session_id": "s1", "tool_name": "Bash", "tool_input": {}}
    await loop.receive(HookReceived(event=read_hook(payload, event_id="r1", at=1.0)))
    waits = request_summary(loop.state.requests["r1"], loop.state.sessions["s1"], "medium", loop.state.settings)
    try:
        yield loop, log, Notify(notice=notice_for("s1:R0:E2", 1.0, (waits,)), channels=("push",))
    finally:
        reader.close()
        log.close()


async def test_notices_beyond_the_queue_are_dropped_and_recorded(tmp_path: Path) -> None:
    async with waiting_request(tmp_path) as (loop, log, order):
        channel = Slow()
        notifier = Notifier([channel], loop)
        notifier(order)
        assert await asyncio.to_thread(channel.began.wait, 10)
        for _ in range(QUEUE + 3):
            notifier(order)
        figures = notifier.stats()["push"]
        assert (figures["queued"], figures["dropped"], figures["sent"]) == (QUEUE, 3, 0)
        await asyncio.sleep(0)
        channel.go_on.set()
        notifier.stop()
        loop.stop()
        failed = [event.data for event in log.events_after(0) if event.kind == "escalation.failed"]
        assert [(data.channel, data.error, data.request_ids) for data in failed] == [
            ("push", "its queue is full", ["r1"])
        ] * 3


async def test_a_failure_is_counted_at_the_same_moment_as_its_reason(tmp_path: Path) -> None:
    seen: list[tuple[int, str | None]] = []
    logged = threading.Event()

    def look(_logger: Any, _method: str, line: Any) -> Any:
        figures = notifier.stats()["push"]
        seen.append((figures["failed"], figures["trouble"]))
        logged.set()
        return line

    async with waiting_request(tmp_path) as (loop, log, order):
        notifier = Notifier([Refusing()], loop)
        with capture_logs(processors=[look]):
            notifier(order)
            assert await asyncio.to_thread(logged.wait, 10)
            while not [event for event in log.events_after(0) if event.kind == "escalation.failed"]:
                await asyncio.sleep(0)
        figures = notifier.stats()["push"]
        notifier.stop()
        loop.stop()
    assert seen == [(0, None)]
    assert (figures["failed"], figures["trouble"]) == (1, "no such topic")


def test_each_backoff_may_be_twice_as_long_and_is_random() -> None:
    assert [backoff(n, lambda low, high: high) for n in range(3)] == [1.0, 2.0, 4.0]
    assert len({backoff(0) for _ in range(100)}) > 1
