"""The loop and those who follow it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import Heard
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.daemon.loop.deadlines import Waiting
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import QUIET
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


async def test_a_subscriber_that_fails_harms_nobody_else(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    reader = Reader(tmp_path / "events.db")
    loop = Loop(State(runner_id="otter"), log, reader, Waiting(SessionsFolder(tmp_path)), Disk(tmp_path))
    told: list[FeedEvent] = []

    def fails(events: list[FeedEvent]) -> None:
        raise ValueError("of its own")

    loop.subscribe(fails)
    loop.subscribe(told.extend)
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "hello"}
    answer = await asyncio.wait_for(loop.hear(Heard(event=read_hook(payload, event_id="e1", at=1.0))), 5)
    loop.stop()
    assert answer is QUIET
    assert [event.kind for event in told] == ["run.start", "user.prompt"]
    assert loop.stats.subscriber_failures == 1
    assert loop.stats.events == {"run.start": 1, "user.prompt": 1}
    reader.close()
    log.close()
