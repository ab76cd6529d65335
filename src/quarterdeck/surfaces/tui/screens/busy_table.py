"""A table whose rows are changed by Claude Code's own command line, one at a time, which takes its while."""

from __future__ import annotations

import time
from typing import Any

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.screens.table_screen import TablePage

Json = dict[str, Any]
TICK_SECONDS = 0.2


class WorkingPage(TablePage):
    """Says in its title what is being done and for how long, and in the banner why it was refused."""

    def __init__(self) -> None:
        super().__init__()
        self._doing = ""
        self._since = 0.0

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(TICK_SECONDS, self._tell_progress)

    @property
    def is_working(self) -> bool:
        return bool(self._doing)

    def _tell_progress(self) -> None:
        if self._doing:
            self.name_it(f"{self._doing} … {time.monotonic() - self._since:.0f} s")

    async def work_on(self, doing: str, method: str, path: str, body: Json | None = None) -> Json | None:
        """Have it done; None when it was refused, which the banner says in the words of who refused."""
        if self._doing:
            self.face.say(f"First this ends: {self._doing}", "warning")
            return None
        self._doing, self._since = doing, time.monotonic()
        self._tell_progress()
        found, trouble = None, ""
        try:
            found = await self.face.talk.slowly(method, path, body)
        except QuarterdeckError as error:
            trouble = one_line(str(error))
        finally:
            self._doing = ""
        self.trouble(trouble)
        self.name_it(f"{self.table.count}" if self.table.count else self.empty)
        return found
