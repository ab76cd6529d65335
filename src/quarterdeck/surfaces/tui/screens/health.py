"""The health of the daemon: what is wrong and how to fix it, then its figures."""

from __future__ import annotations

import time

from quarterdeck.surfaces.terminal.lines.health_lines import health_lines
from quarterdeck.surfaces.tui.screens.base import TextPage


class HealthPage(TextPage):
    """The health page; drawn again every second."""

    heading = "Health"

    def on_mount(self) -> None:
        self.set_interval(1.0, self.action_reload)

    async def read(self) -> None:
        self.show(health_lines(self.tui.model, self.tui.daemon.place, time.monotonic()))
