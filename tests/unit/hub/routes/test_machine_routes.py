"""Machines are enrolled once by name, and expelled for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.routes.decisions import Decisions
from quarterdeck.hub.routes import machine_routes
from quarterdeck.hub.routes.machine_routes import NewRunner
from quarterdeck.hub.store.records import RecordQuery, list_records
from quarterdeck.link.messages import RefusalMessage
from tests.support.hub_parts import hub_parts


async def test_a_machine_is_enrolled_once_and_expelled_with_a_record(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        made = await hub.call(machine_routes.enroll_runner, data=NewRunner(name="box"))
        assert made.token.startswith("qdr_")
        with pytest.raises(ApiError):
            await hub.call(machine_routes.enroll_runner, data=NewRunner(name="box"))
        state = hub.registry.of_token(made.token)
        assert state is not None
        runner = await hub.connected(state)
        await hub.call(machine_routes.expel_runner, machine_id="box-1")
        assert runner.last(RefusalMessage).kind == "expelled"
        assert runner.closed != []
        kinds = [(one.record.kind, one.record.who) for one in list_records(hub.db, RecordQuery())]
        assert kinds == [("hub.enroll", "ann"), ("hub.expel", "ann")]
        with pytest.raises(ApiError):
            await hub.call(machine_routes.expel_runner, machine_id="box-1")


async def test_each_of_several_decisions_has_its_own_result(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        hub.enroll("a")
        data = Decisions(decisions=[{"request_id": "q1"}, {}])
        found = await hub.call(machine_routes.decide_many, data=data)
        assert [one.error["kind"] for one in found.decisions] == ["not_found", "invalid"]
