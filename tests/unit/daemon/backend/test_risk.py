"""Assessing requests: once, with real paths and plug-ins, and never at the cost of the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from quarterdeck.core.engine.messages import Input, RiskAssessed
from quarterdeck.core.model.risk_levels import Risk
from quarterdeck.core.model.state import Request
from quarterdeck.core.patterns.rule_words import word_kind
from quarterdeck.core.risk.quick_risk import CACHE_SIZE
from quarterdeck.daemon.backend.risk import RiskService
from quarterdeck.daemon.backend.risk_plugins import RiskPlugin
from quarterdeck.system.worker_thread import MAX_STUCK, WorkerThread, WorkerTimeout


def request_of(request_id: str = "r1", tool_name: str = "Bash", status: str = "pending", **tool_input: Any) -> Request:
    return Request(
        request_id=request_id,
        kind="permission",
        session_id="s1",
        run_id="s1:R1",
        event_id="e1",
        seq_no=1,
        hook_name="PermissionRequest",
        tool_name=tool_name,
        tool_kind=word_kind(tool_name),
        tool_input=tool_input,
        digest=repr(tool_input),
        opened_at=1.0,
        held=True,
        waiter="h",
        status=status,
    )


def risk_service(
    *judges: Callable[..., Any], cwd: str = "/w", submit: Callable[[Input], None] = lambda assessed: None
) -> RiskService:
    return RiskService(
        lambda _: cwd, submit, "/home/ann", plugins=[RiskPlugin(judge.__name__, judge) for judge in judges]
    )


@pytest.fixture
async def worker() -> AsyncIterator[WorkerThread]:
    made = WorkerThread("test")
    yield made
    made.close()


async def test_a_plugin_raises_the_level_and_adds_its_reasons() -> None:
    def production(tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Any:
        return ("critical", ["touches production"]) if "prod" in tool_input["command"] else None

    service = risk_service(production)
    request = request_of(command="git push prod")
    assert service.risk(request).level == "medium"
    await service.assess([request])
    assert service.risk(request) == Risk("critical", ["touches production", "publishes commits (git push)"])
    other = request_of("r2", command="ls")
    await service.assess([other])
    assert service.risk(other).level == "low"
    service.close()


async def test_a_plugin_cannot_lower_the_level() -> None:
    service = risk_service(lambda *call: ("low", ["trust me"]))
    request = request_of(command="rm -rf /")
    await service.assess([request])
    assert service.risk(request).level == "critical"
    service.close()


async def test_a_plugin_gets_a_copy_of_the_input() -> None:
    def mutates_input(tool_name: str, tool_input: dict[str, Any], cwd: str, home: str) -> Any:
        tool_input.clear()

    service = risk_service(mutates_input)
    request = request_of(command="ls")
    await service.assess([request])
    assert request.tool_input == {"command": "ls"}
    service.close()


async def test_a_link_in_the_project_to_a_private_key_is_assessed_as_the_key(tmp_path: Path) -> None:
    (tmp_path / "home/.ssh").mkdir(parents=True)
    (tmp_path / "home/.ssh/id_rsa").write_text("key")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/notes.txt").symlink_to(tmp_path / "home/.ssh/id_rsa")
    service = risk_service(cwd=str(tmp_path / "project"))
    request = request_of(tool_name="Read", file_path="notes.txt")
    assert service.risk(request).level == "low"
    await service.assess([request])
    assert service.risk(request).level == "critical"
    service.close()


async def test_the_full_risk_of_each_pending_request_is_submitted_once() -> None:
    submitted: asyncio.Queue[Input] = asyncio.Queue()
    service = risk_service(lambda *call: ("critical", ["never on a Friday"]), submit=submitted.put_nowait)
    decided, other = request_of("r2", "Bash", "decided", command="ls"), request_of("r3", "Read", file_path="a")
    service.requests_changed([request_of("r1", command="ls"), decided, other])
    found = [await submitted.get(), await submitted.get()]
    critical = Risk("critical", ["never on a Friday"])
    assert [(one.request_id, one.digest, one.risk) for one in found if isinstance(one, RiskAssessed)] == [
        ("r1", "{'command': 'ls'}", critical),
        ("r3", "{'file_path': 'a'}", critical),
    ]
    await asyncio.gather(*service._tasks)
    service.requests_changed([replace(request_of("r1", command="ls"), risk=critical)])
    assert all(task.done() for task in service._tasks)
    service.close()


async def test_a_plugin_that_fails_leaves_the_risk_without_it() -> None:
    def raises(*call: Any) -> Any:
        raise RuntimeError

    submitted: asyncio.Queue[Input] = asyncio.Queue()
    service = risk_service(raises, lambda *call: ("low", []), submit=submitted.put_nowait)
    service.requests_changed([request_of(command="sudo rm -rf /")])
    found = await submitted.get()
    assert isinstance(found, RiskAssessed)
    assert found.risk.level == "critical"
    service.close()


async def test_more_requests_than_are_remembered_are_each_submitted_with_their_full_risk() -> None:
    submitted: list[Input] = []
    service = risk_service(lambda *call: ("critical", []), submit=submitted.append)
    service.requests_changed([request_of(f"r{n}", command="ls") for n in range(CACHE_SIZE + 10)])
    await asyncio.gather(*service._tasks)
    assert {one.risk.level for one in submitted if isinstance(one, RiskAssessed)} == {"critical"}
    assert (len(submitted), len(service._known)) == (CACHE_SIZE + 10, CACHE_SIZE)
    service.close()


async def test_a_recorded_risk_is_shown_and_not_computed_again() -> None:
    service = risk_service(lambda *call: ("critical", []))
    request = replace(request_of(command="ls"), risk=Risk("high", ["as it was shown"]))
    await service.assess([request])
    assert (service.risk(request).level, len(service._known)) == ("high", 0)
    service.close()


async def test_remembered_risks_are_bounded() -> None:
    service = risk_service()
    await service.assess([request_of(f"r{n}", command="ls") for n in range(CACHE_SIZE + 10)])
    assert len(service._known) == CACHE_SIZE
    service.close()


async def test_a_long_command_is_not_parsed_on_the_loop() -> None:
    service = risk_service()
    request = request_of(command="ls;" * 500 + "rm -rf /")
    assert service.risk(request) == Risk("high", ["is long and not yet checked"])
    await service.assess([request])
    assert service.risk(request).level == "critical"
    service.close()


async def test_a_worker_thread_returns_and_raises_as_its_work_does(worker: WorkerThread) -> None:
    def fails() -> None:
        raise ValueError("no")

    assert await worker.run(5.0, max, 1, 2) == 2
    with pytest.raises(ValueError, match="no"):
        await worker.run(5.0, fails)
    assert await worker.run(5.0, len, "abc") == 3


@pytest.mark.law("I4")
async def test_a_thread_that_hangs_is_abandoned_and_after_a_few_no_work_is_begun(worker: WorkerThread) -> None:
    never = threading.Event()
    for _ in range(MAX_STUCK):
        with pytest.raises(WorkerTimeout):
            await worker.run(0.001, never.wait, 10)
    with pytest.raises(WorkerTimeout):
        await worker.run(5.0, len, "abc")
    never.set()
