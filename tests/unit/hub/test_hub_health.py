"""The numbers of a hub have the shape of a daemon's."""

from __future__ import annotations

from pathlib import Path

import msgspec

from quarterdeck.views.resources.stats_view import StatsView
from tests.support.hub_parts import hub_parts


async def test_the_numbers_have_the_shape_of_a_daemon(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner = await hub.joined("a")
        await hub.send(runner, 1, 2)
        stats = msgspec.convert(hub.backend.health.stats(), StatsView)
        assert (stats.runner_id, stats.store.seq_no, stats.hub) == ("hub-1", 2, None)
        assert hub.backend.health.status == "ok"
        hub.commits.trouble = "the disk is full"
        assert hub.backend.health.status == "not_recording"
