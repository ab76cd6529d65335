"""What the API of a hub serves: machines and views by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quarterdeck.api.http.error_responses import ApiError
from tests.support.hub import session_view
from tests.support.hub_parts import hub_parts


async def test_a_bare_id_of_two_machines_is_ambiguous_until_one_is_named(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        for name in ("a", "b"):
            runner: Any = await hub.joined(name)
            await hub.show(runner, sessions=[session_view(f"{name}-1", "s1")])
        with pytest.raises(ApiError) as refused:
            await hub.backend.view_named("sessions", "s1", None)
        assert refused.value.body["error"]["runner_ids"] == ["a-1", "b-1"]
        state, view = await hub.backend.view_named("sessions", "s1", "b-1")
        assert (state.name, b"b-1" in view.body) == ("b", True)
        with pytest.raises(ApiError) as refused:
            await hub.backend.view_named("requests", "q9", None)
        assert refused.value.code == 404


async def test_without_a_machine_nothing_is_the_only_one(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        with pytest.raises(ApiError) as refused:
            hub.backend.only_machine()
        assert refused.value.body["error"]["kind"] == "no_machine"
        state = hub.enroll("a")
        assert hub.backend.only_machine() is state
