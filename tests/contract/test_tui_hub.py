"""The terminal UI on a hub: the sessions of two machines, each with its name, and a decision on one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.client.remote import RemoteDaemon
from tests.contract.test_joined_hub import Fleet
from tests.support.daemon import decision_in, permission, prompt
from tests.support.pilot import run_tui


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as exits:
        yield Fleet(tmp_path, exits)


async def test_sessions_of_two_machines_are_shown_by_machine_and_decided_from_the_desk(fleet: Fleet) -> None:
    one, two = await asyncio.to_thread(fleet.daemon, "otter"), await asyncio.to_thread(fleet.daemon, "heron")
    one.hook(prompt("fix the login", "s-one"))
    two.hook(prompt("write the docs", "s-two"))
    held = two.hold(permission("git push", "s-two"))
    await asyncio.to_thread(fleet.until_pending)
    remote = RemoteDaemon(fleet.hub.url, fleet.hub.home / "token")
    client = DaemonConnection(fleet.hub.home, remote=remote)
    async with run_tui(fleet.hub.home, daemon=client, size=(140, 44)) as tui:
        await tui.sees("otter:w")
        await tui.sees("heron:w")
        await tui.sees("write the docs")
        await tui.card("git push")
        await tui.press("a")
        await tui.until(lambda: not tui.app.model.pending, "the decision")
    answer = (await asyncio.to_thread(held.answer))[1]
    assert decision_in(answer) == "allow"
    assert "through the hub" in two.events("permission.decision")[0]["data"]["by"]
