"""What comes from runners: stored first, then shown; one holder of an identity at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from quarterdeck.hub.store.enrolments import TakenIdentity
from quarterdeck.hub.store.stored_events import FencedConnection
from quarterdeck.link.codec import BadMessage
from quarterdeck.link.messages import AttendingMessage, RegisterMessage
from tests.support.hub import link_event, request_view
from tests.support.hub_parts import KeptRunner, hub_parts


async def test_events_move_the_place_once_they_are_stored(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        await hub.send(runner, 1, 2)
        await hub.send(runner, 2, 3)
        assert hub.source.place == 3
        assert runner.state.last_number == 3
        assert runner.last(AttendingMessage).people == 0


@pytest.mark.law("H7")
@pytest.mark.law("H6")
async def test_a_second_holder_is_refused_and_an_earlier_connection_is_fenced(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        first: Any = await hub.joined("a")
        register = RegisterMessage(runner_id="a-1", name="a", seq_no=0, instance="another")
        copy: Any = KeptRunner(first.state)
        with pytest.raises(TakenIdentity):
            await hub.intake.claim(copy, register)
        await hub.send(first, 1)
        again = await hub.connected(first.state)
        assert (first.closed != [], again.epoch > first.epoch) == (True, True)
        with pytest.raises(FencedConnection):
            await hub.send(first, 2)


@pytest.mark.parametrize("change", [{"hash": "xyz"}, {"event": Raw(b"{}")}, {"event": link_event("b-1", 1).event}])
async def test_an_event_that_cannot_be_stored_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    async with hub_parts(tmp_path) as hub:
        runner: Any = await hub.joined("a")
        with pytest.raises(BadMessage):
            hub.intake.store(runner, [replace(link_event("a-1", 1), **change)])


async def test_views_are_kept_in_memory_and_in_the_store(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner: Any = await hub.joined("a")
        await hub.show(runner, requests=[request_view("a-1", "q1")])
        assert len(hub.shown.requests) == 1
        with pytest.raises(BadMessage):
            await hub.show(runner, requests=[Raw(b"[]")])
        await hub.intake.leave(runner)
        assert not runner.state.is_connected
