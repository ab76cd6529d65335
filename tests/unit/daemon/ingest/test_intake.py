"""The way of a hook call into the loop: its id, and the wait for a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from quarterdeck.agents.base import Agent
from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.state import Settings, State
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.ingest.intake import HookCaller, HookIntake
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.loop.waiters import NO_OPINION, HookAnswer
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader
from tests.support.daemon import Json
from tests.support.other_agent import FERRET


@pytest.fixture
async def intake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HookIntake]:
    """An intake that knows Ferret too."""
    monkeypatch.setitem(cast("dict[str, Agent]", AGENTS), FERRET.name, FERRET)
    log, reader = Log.open(tmp_path / "events.db"), Reader(tmp_path / "events.db")
    state, deadlines = State(runner_id="r", settings=Settings()), Deadlines(SessionsFolder(tmp_path))
    loop = Loop(state, log, reader, deadlines, DiskReserve(tmp_path))
    yield HookIntake(loop, Attendance())
    loop.stop()
    reader.close()
    log.close()


@pytest.mark.parametrize(
    ("agent", "payload", "keeps_id"),
    [
        ("claude", {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {}}, True),
        ("claude", {"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion", "tool_input": {}}, True),
        ("claude", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}, False),
        ("claude", {"hook_event_name": 3}, False),
        ("ferret", {"talk": "s", "what": "may_i", "with": "run_line", "input": {"line": "ls"}}, True),
        ("ferret", {"talk": "s", "what": "will_use", "with": "run_line", "input": {"line": "ls"}}, False),
        ("ferret", {"talk": "s", "hook_event_name": "PermissionRequest"}, False),
    ],
)
async def test_a_call_that_may_be_held_keeps_the_id_of_its_agent_whatever_its_agent_calls_it(
    intake: HookIntake, agent: str, payload: Json, keeps_id: bool
) -> None:
    caller = HookCaller(waiter="forwarder", agent=agent)
    call = intake.receive(json.dumps(payload).encode(), caller, "call-1")
    assert call is not None
    await call.answer
    assert (call.event_id == "call-1") is keeps_id


async def test_a_call_waits_for_its_answer_or_until_its_agent_has_gone(intake: HookIntake) -> None:
    answer: asyncio.Future[HookAnswer] = asyncio.get_running_loop().create_future()
    gone = asyncio.Event()
    waiting = asyncio.ensure_future(intake.wait("r1", answer, gone.wait()))
    answer.set_result(NO_OPINION)
    assert await waiting is NO_OPINION
    gone.set()
    assert await intake.wait("r2", asyncio.get_running_loop().create_future(), gone.wait()) is None
