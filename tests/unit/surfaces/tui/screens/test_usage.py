"""The page of what was used: its charts, its periods, and a daemon that does not count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.screens.usage import DAY, UsagePage
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import Json, RecordedDaemon, connected, snapshot

SESSIONS: Json = {"sessions": [], "next": None}
SERIES: Json = {
    "times": [0.0, DAY],
    "until": 2 * DAY,
    "series": [{"name": "opus", "label": "opus", "total": 3.0, "values": [1.0, 2.0]}],
}


class CountingDaemon(RecordedDaemon):
    """A daemon that keeps the queries of series."""

    def __init__(self, answers: dict[str, Json]) -> None:
        super().__init__([connected(), snapshot()], {"/sessions": SESSIONS, **answers})
        self.queries: list[Json] = []

    async def get(self, path: str, /, **query: Any) -> Json:
        if path == "/stats/series":
            self.queries.append(query)
        return await super().get(path, **query)

    def periods(self) -> set[int]:
        """The days between the times of the queries."""
        return {round((query["until"] - query["since"]) / DAY) for query in self.queries}


async def test_the_page_shows_charts_and_p_shows_another_period() -> None:
    daemon = CountingDaemon({"/stats/series": SERIES})
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon)
    async with app.run_test(size=(90, 24)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        app.perform_command("usage", "")
        await tui.shows_screen(UsagePage)
        for words in ("Usage  30 days", "tool calls", "$3.00", "by project", "by model", "opus"):
            await tui.sees(words)
        assert daemon.periods() == {30}
        await tui.press("p")
        await tui.sees("Usage  90 days")
        assert daemon.periods() == {30, 90}


async def test_a_daemon_without_counts_is_named() -> None:
    app = QuarterdeckApp(Path("/nowhere"), daemon=CountingDaemon({}))
    async with app.run_test(size=(90, 24)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        app.perform_command("usage", "")
        await tui.sees("not recorded")
