"""The queue to each channel: bounded, and nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import Heard, Notify
from quarterdeck.core.engine.notifications import Notice, notice_of, waits_of
from quarterdeck.core.model.state import Settings, State
from quarterdeck.daemon.loop.deadlines import Waiting
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.notify.notifier import QUEUE, Notifier, pause
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


class Slow:
    """A channel that tells nobody until it is let go."""

    name, where = "push", "nowhere"

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()

    def trouble(self) -> str | None:
        return None

    def send(self, notice: Notice, page: str | None) -> str:
        self.began.set()
        self.go_on.wait(10)
        return "told"


async def test_more_than_the_queue_holds_is_dropped_and_on_record(tmp_path: Path) -> None:
    log, channel = Log.open(tmp_path / "events.db"), Slow()
    reader = Reader(tmp_path / "events.db")
    state = State(runner_id="otter", settings=Settings(hold="always"))
    loop = Loop(state, log, reader, Waiting(SessionsFolder(tmp_path)), Disk(tmp_path))
    asked = {"hook_event_name": "PermissionRequest", "session_id": "s1", "tool_name": "Bash", "tool_input": {}}
    await loop.hear(Heard(event=read_hook(asked, event_id="r1", at=1.0)))
    notifier = Notifier([channel], loop)
    waits = waits_of(loop.state.requests["r1"], loop.state.sessions["s1"], Settings())
    order = Notify(notice=notice_of("s1:R0:E2", 1.0, (waits,)), channels=("push",))
    notifier(order)
    assert await asyncio.to_thread(channel.began.wait, 10)
    for _ in range(QUEUE + 3):
        notifier(order)
    figures = notifier.figures()["push"]
    assert (figures["queued"], figures["dropped"], figures["sent"]) == (QUEUE, 3, 0)
    await asyncio.sleep(0)
    channel.go_on.set()
    notifier.stop()
    loop.stop()
    failed = [event.data for event in log.events_after(0) if event.kind == "escalation.failed"]
    assert [(data.channel, data.error, data.request_ids) for data in failed] == [
        ("push", "its queue is full", ["r1"])
    ] * 3
    reader.close()
    log.close()


def test_each_pause_may_be_twice_as_long_and_none_is_the_same() -> None:
    assert [pause(n, lambda low, high: high) for n in range(3)] == [1.0, 2.0, 4.0]
    assert len({pause(0) for _ in range(100)}) > 1
