"""The machines of a hub as they are now."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.link.holders import Rival
from tests.support.hub_parts import hub_parts


async def test_the_state_of_a_machine_is_what_is_true_now(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        state = hub.enroll("a")
        seen = [hub.registry.entry(state).state]
        runner = await hub.connected(state, version="0.9.0")
        seen.append(hub.registry.entry(state).state)
        assert hub.registry.entry(state).is_out_of_date
        runner.backlog = 7
        seen.append(hub.registry.entry(state).state)
        assert hub.registry.entry(state).behind == 7
        hub.registry.holders._rivals["a-1"] = Rival(instance="x", address="10.0.0.9", at=5.0)
        seen.append(hub.registry.entry(state).state)
        assert hub.registry.entry(state).rivals[0].address == "10.0.0.9"
        hub.registry.expel(state, 9.0)
        seen.append(hub.registry.entry(state).state)
        assert seen == ["away", "ready", "catching_up", "conflict", "expelled"]


async def test_a_machine_is_found_by_its_own_id_and_by_that_of_its_enrolment(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        assert hub.registry.find("a-1") is hub.registry.find("e-a") is runner.state
        assert hub.registry.find("b") is None
        assert hub.registry.by_number(1) is runner.state
        hub.registry.expel(runner.state, 9.0)
        second = hub.enroll("again")
        second.stored = runner.state.stored
        assert hub.registry.find("a-1") is second
        assert hub.registry.listed() == [second]
