"""The loop and its subscribers."""

from __future__ import annotations

import asyncio
from pathlib import Path

from quarterdeck.agents.claude.hooks import read_hook
from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import State
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import NO_OPINION
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader


async def test_a_subscriber_that_fails_does_not_affect_the_others(tmp_path: Path) -> None:
    log = Log.open(tmp_path / "events.db")
    reader = Reader(tmp_path / "events.db")
    loop = Loop(State(runner_id="otter"), log, reader, Deadlines(SessionsFolder(tmp_path)), DiskReserve(tmp_path))
    recorded: list[FeedEvent] = []

    def fails(events: list[FeedEvent]) -> None:
        raise ValueError("of its own")

    loop.subscribe(fails)
    loop.subscribe(recorded.extend)
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "hello"}
    answer = await asyncio.wait_for(loop.receive(HookReceived(event=read_hook(payload, event_id="e1", at=1.0))), 60)
    loop.stop()
    assert answer is NO_OPINION
    assert [event.kind for event in recorded] == ["run.start", "user.prompt"]
    assert loop.stats.subscriber_failures == 1
    assert loop.stats.events == {"run.start": 1, "user.prompt": 1}
    reader.close()
    log.close()
