"""Endpoints of the hub get the machine that a client names."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.hub.routes.machine_routes import list_runners
from tests.support.hub_parts import hub_parts


async def test_a_list_is_narrowed_to_the_machine_that_is_named(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        hub.enroll("a")
        hub.enroll("b")
        every = await list_runners.serve(hub.backend, {}, None, {})
        one = await list_runners.serve(hub.backend, {}, "e-b", {})
        assert [[entry.name for entry in found.runners] for found in (every, one)] == [["a", "b"], ["b"]]
        with pytest.raises(ApiError):
            await list_runners.serve(hub.backend, {}, "nobody", {})
