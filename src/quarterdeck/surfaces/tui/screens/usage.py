"""What was used over time, and what it cost, as small charts."""

from __future__ import annotations

import time

from textual import events
from textual.binding import Binding

from quarterdeck.core.text.amounts import counted
from quarterdeck.surfaces.terminal.usage_totals import usage_lines
from quarterdeck.surfaces.text.usage_table import UsageTable, usage_queries, usage_table
from quarterdeck.surfaces.tui.screens.base import TextPage
from quarterdeck.surfaces.tui.widgets.text_view import TextView

DAY = 86400.0
PERIODS = (30, 90, 365, 7)
"""Days; the first are shown at first."""
TABLES = ("day", "project", "model")
READ_AGAIN_SECONDS = 30.0


class UsagePage(TextPage):
    """Charts of each day, and bars by project and by model."""

    heading = "Usage"
    BINDINGS = [Binding("p", "period", "other period", tooltip="30, 90, 365 or 7 days")]
    _period = 0

    def __init__(self) -> None:
        super().__init__()
        self._tables: dict[str, UsageTable] = {}

    def on_mount(self) -> None:
        self.set_interval(READ_AGAIN_SECONDS, self.action_reload)

    async def read(self) -> None:
        """Read every series, then draw them all at once."""
        days, now = PERIODS[self._period], time.time()
        self.set_subtitle(f"{counted(days, 'day')} · reading …")
        tables: dict[str, UsageTable] = {}
        for by in TABLES:
            queries = usage_queries(by, now - days * DAY, now)
            answers = {name: await self.tui.daemon.get("/stats/series", **query) for name, query in queries.items()}
            tables[by] = usage_table(by, answers)
        self._tables = tables
        self.set_subtitle(counted(days, "day"))
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        for view in self.query(".page").results(TextView) if self._tables else ():
            self.show(usage_lines(self._tables, view.scrollable_content_region.width))

    def action_period(self) -> None:
        self._period = (self._period + 1) % len(PERIODS)
        self.action_reload()
