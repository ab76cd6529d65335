"""The audit: every decision and change with its author, the newest first."""

from __future__ import annotations

from typing import Any

from textual import work
from textual.binding import Binding

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.lines.audit_lines import audit_lines, audit_rows, decided_request_lines
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.screens.table_screen import TablePage

Json = dict[str, Any]
FIRST_REACH = 20_000
"""Events of the log that are searched for audit entries at first; older ones on demand."""


class AuditPage(TablePage):
    """The audit. Enter shows all of an entry with the request that was decided; o reads further back."""

    heading = "Audit"
    columns = ("when", "action", "about", "who", "source", "session")
    empty = "Nothing was decided or changed yet."
    BINDINGS = [
        Binding("o", "older", "older ones"),
        Binding("y", "copy", "copy"),
    ]
    _reach = FIRST_REACH

    async def read(self) -> None:
        """Read page by page, until the end of the log."""
        stats = self.tui.model.stats
        last = stats["store"]["seq_no"] if stats else 0
        after: int | None = max(0, last - self._reach)
        entries: list[Json] = []
        while after is not None:
            page = await self.tui.daemon.get("/audit", after=after, limit=1000)
            entries += page["audit"]
            after = page["next"]
            self.set_subtitle(f"reading … {len(entries):,}")
        entries.reverse()
        self.fill(entries, audit_rows(entries))

    def action_older(self) -> None:
        self._reach *= 4
        self.action_reload()

    def action_copy(self) -> None:
        self.tui.copy("\n".join(f"{k}: {v}" for k, v in (self.highlighted or {}).items()))

    def choose(self, item: Json) -> None:
        self.show_details(audit_lines(item))
        self._show_request(item)

    @work(exclusive=True, group="request")
    async def _show_request(self, entry: Json) -> None:
        """Show the request above the audit entry, if the daemon still has it."""
        request_id = entry["what"].get("request_id")
        if not request_id:
            return
        try:
            request = await self.tui.daemon.request(request_id)
        except QuarterdeckError:
            return
        self.show_details([*decided_request_lines(request), StyledLine(), *audit_lines(entry)])
