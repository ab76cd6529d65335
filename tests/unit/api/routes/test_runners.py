"""`GET /runners`."""

from __future__ import annotations

import asyncio
from typing import Any

from quarterdeck.api.backend import RunnerEntry
from quarterdeck.api.routes.runners import list_runners

OTTER = RunnerEntry(runner_id="otter-1", name="otter", version="1", state="ready", seq_no=3, since=1.0)


class OneMachine:
    runner_id = "otter-1"

    def all(self) -> list[RunnerEntry]:
        return [OTTER]


def test_the_machines_are_listed() -> None:
    found: Any = asyncio.run(list_runners.call(OneMachine(), {"runners": OneMachine()}, {}))
    assert (found.runners, found.next) == ([OTTER], None)
