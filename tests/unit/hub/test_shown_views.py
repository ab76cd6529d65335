"""Live sessions and pending requests of all machines, as surfaces see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from quarterdeck.hub.shown_views import cursor_of, place_of, shown_view
from tests.support.hub import request_view, session_view
from tests.support.hub_parts import hub_parts


async def test_a_view_has_its_time_and_machine_and_no_decision_while_that_is_away(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner: Any = await hub.joined("a")
        await hub.show(
            runner, snapshot=True, sessions=[session_view("a-1", "s1")], requests=[request_view("a-1", "q1")]
        )
        (view,) = hub.shown.requests.values()
        shown = json.loads(bytes(shown_view(runner.state, view)))
        assert (shown["decisions"], shown["runner_name"], shown["seen_at"]) == (["allow", "deny"], "a", view.at)
        await hub.intake.leave(runner)
        shown = json.loads(bytes(shown_view(runner.state, view)))
        assert (shown["decisions"], shown["away_since"]) == ([], runner.state.since)
        snapshot = json.loads(hub.source.snapshot(frozenset({"sessions", "requests"})))
        assert [one["possible"] for one in snapshot["sessions"][0]["actions"]] == [False]


async def test_what_has_ended_leaves_the_memory(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        runner: Any = await hub.joined("a")
        await hub.show(runner, sessions=[session_view("a-1", "s1", agent="claude")])
        await hub.show(runner, sessions=[session_view("a-1", "s1", ended_at=9.0)], requests=[])
        assert hub.shown.sessions == {}
        assert hub.shown.agents == {"s1": "claude"}


async def test_a_cursor_is_a_place_that_only_a_hub_reads(tmp_path: Path) -> None:
    async with hub_parts(tmp_path) as hub:
        assert (cursor_of(7), place_of("p7"), place_of(None)) == ("p7", 7, None)
        assert [hub.source.place_of(one) for one in ("p7", 7, "x", "2.5.s")] == [7, 7, None, None]
        runner = await hub.joined("a")
        await hub.send(runner, 1, 2, 3)
        page = await hub.source.page(1, 4, 1)
        assert (list(page.places), page.more) == ([2], True)
        message = json.loads(hub.source.event_message(page.events[0]))
        assert (message["cursor"], message["event"]["place"], message["event"]["seq_no"]) == ("p2", 2, 2)
        assert [await hub.source.can_resume(place) for place in (3, 4)] == [True, False]
