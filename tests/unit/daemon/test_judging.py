"""Judging requests: once, with real paths and plug-ins, and never at the cost of the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.assess import Risk
from quarterdeck.core.risk.quick_risk import KEPT
from quarterdeck.daemon.backend.risk import Judging
from quarterdeck.daemon.backend.risk_plugins import Nonsense, Plugin, read_opinion
from quarterdeck.system.worker_thread import MOST_STUCK, Aside, Stuck


def asked(request_id: str = "r1", tool_name: str = "Bash", status: str = "pending", **tool_input: Any) -> Request:
    return Request(
        request_id=request_id,
        kind="permission",
        session_id="s1",
        run_id="s1:R1",
        event_id="e1",
        seq_no=1,
        hook_name="PermissionRequest",
        tool_name=tool_name,
        tool_input=tool_input,
        digest="d",
        opened_at=1.0,
        held=True,
        holder="h",
        status=status,
    )


def judging(*judges: Callable[..., Any], cwd: str = "/w") -> Judging:
    return Judging(lambda _: cwd, "/home/ann", plugins=[Plugin(judge.__name__, judge) for judge in judges])


@pytest.fixture
async def aside() -> AsyncIterator[Aside]:
    made = Aside("test")
    yield made
    made.close()


async def test_a_judge_of_another_package_raises_the_level_and_joins_its_reasons() -> None:
    def production(tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Any:
        return ("critical", ["touches production"]) if "prod" in tool_input["command"] else None

    judges = judging(production)
    request = asked(command="git push prod")
    assert judges.risk(request).level == "medium"
    await judges.judge([request])
    assert judges.risk(request) == Risk("critical", ["touches production", "publishes commits (git push)"])
    other = asked("r2", command="ls")
    await judges.judge([other])
    assert judges.risk(other).level == "low"
    judges.close()


async def test_a_judge_cannot_make_a_request_look_harmless() -> None:
    judges = judging(lambda *call: ("low", ["trust me"]))
    request = asked(command="rm -rf /")
    await judges.judge([request])
    assert judges.risk(request).level == "critical"
    judges.close()


async def test_a_judge_that_misbehaves_is_switched_off_with_one_line() -> None:
    never = threading.Event()

    def raises(*call: Any) -> Any:
        raise RuntimeError("secret words")

    def hangs(*call: Any) -> Any:
        never.wait(10)

    def babbles(*call: Any) -> Any:
        return "very dangerous"

    judges = judging(raises, hangs, babbles)
    with capture_logs() as logs:
        for n in range(3):
            await judges.judge([asked(f"r{n}", command="ls")])
    assert [(log["plugin"], log["why"]) for log in logs] == [
        ("raises", "raised RuntimeError"),
        ("hangs", "took more than 50 ms"),
        ("babbles", "answered something other than (level, reasons)"),
    ]
    assert judges.risk(asked("r0", command="ls")) == Risk("low", [])
    never.set()
    judges.close()


async def test_a_judge_gets_a_copy_of_the_input() -> None:
    def meddles(tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Any:
        tool_input.clear()

    judges = judging(meddles)
    request = asked(command="ls")
    await judges.judge([request])
    assert request.tool_input == {"command": "ls"}
    judges.close()


@pytest.mark.parametrize(
    "said", [(), ("high",), ("severe", []), ("high", "words"), ("high", [1]), (None, []), 7, {"high": []}]
)
def test_only_a_level_and_reasons_are_an_opinion(said: Any) -> None:
    with pytest.raises(Nonsense):
        read_opinion(said)


def test_reasons_of_others_are_bounded() -> None:
    found = read_opinion(["high", ["x" * 1000] * 100])
    assert (len(found.reasons), len(found.reasons[0])) == (20, 300)


async def test_a_link_in_the_project_that_leads_to_a_key_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    (tmp_path / "home/.ssh/id_rsa").write_text("key")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/notes.txt").symlink_to(tmp_path / "home/.ssh/id_rsa")
    judges = judging(cwd=str(tmp_path / "project"))
    request = asked(tool_name="Read", file_path="notes.txt")
    assert judges.risk(request).level == "low"
    await judges.judge([request])
    assert judges.risk(request).level == "critical"
    judges.close()


async def test_who_was_shown_a_glance_hears_of_the_judgement() -> None:
    judges = judging(lambda *call: ("critical", ["never on a Friday"]))
    told: asyncio.Queue[list[str]] = asyncio.Queue()
    judges.changed = told.put_nowait
    judges.saw([asked("r1", command="ls"), asked("r2", "Bash", "decided", command="ls")])
    assert await told.get() == ["r1"]
    judges.close()


async def test_what_is_remembered_is_bounded() -> None:
    judges = judging()
    for n in range(KEPT + 10):
        judges.risk(asked(f"r{n}", command="ls"))
    assert len(judges._known) == KEPT
    judges.close()


async def test_a_long_command_is_not_read_on_the_loop() -> None:
    judges = judging()
    request = asked(command="ls;" * 500 + "rm -rf /")
    assert judges.risk(request) == Risk("high", ["is long and not yet looked into"])
    await judges.judge([request])
    assert judges.risk(request).level == "critical"
    judges.close()


async def test_work_aside_gives_what_it_gives_and_raises_what_it_raises(aside: Aside) -> None:
    def fails() -> None:
        raise ValueError("no")

    assert await aside.run(5.0, max, 1, 2) == 2
    with pytest.raises(ValueError, match="no"):
        await aside.run(5.0, fails)
    assert await aside.run(5.0, len, "abc") == 3


@pytest.mark.law("I4")
async def test_work_that_hangs_is_left_behind_and_after_a_few_nothing_more_is_begun(aside: Aside) -> None:
    never = threading.Event()
    for _ in range(MOST_STUCK):
        with pytest.raises(Stuck):
            await aside.run(0.001, never.wait, 10)
    with pytest.raises(Stuck):
        await aside.run(5.0, len, "abc")
    never.set()
