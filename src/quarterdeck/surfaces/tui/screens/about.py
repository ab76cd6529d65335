"""The about page: version, home, and what leaves this machine."""

from __future__ import annotations

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.lines.about_lines import about_lines, changed_settings, facts_of
from quarterdeck.surfaces.tui.screens.base import TextPage

MAX_CHANGES = 1_000
FAR = 2**62


class AboutPage(TextPage):
    """The about page; it asks the daemon once."""

    heading = "About"

    async def read(self) -> None:
        daemon = self.tui.daemon
        try:
            stats = await daemon.get("/stats")
            page = await daemon.get("/feed", kind="setting.change", before=FAR, limit=MAX_CHANGES)
        except QuarterdeckError:
            self.show(about_lines(facts_of(None, daemon.place, ""), None))
            raise
        self.show(about_lines(facts_of(stats, daemon.place, daemon.url), changed_settings(page["events"])))
