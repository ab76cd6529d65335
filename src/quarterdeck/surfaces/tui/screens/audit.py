"""Who decided and changed what, the newest first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.core.feed import OWN
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.tui.grid import Cell, Grid
from quarterdeck.surfaces.tui.lines import Line, line
from quarterdeck.surfaces.tui.screens.table import TablePage

Json = dict[str, Any]
REACH = 20_000
"""How many events of the log are looked at for what is to be audited, at first; older ones on demand."""

ABOUT = ("tool_name", "pattern", "name", "key", "path")
"""Where a deed says what it is about, the first that is there."""


def audit_rows(rows: Iterable[Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each deed on a row."""
    for row in rows:
        what = row["what"]
        deed = what.get("decision_type") or what.get("wanted") or what.get("effect") or ""
        about = next((what[name] for name in ABOUT if what.get(name)), "")
        clock = time.strftime("%d %b %H:%M", time.localtime(row["at"]))
        who = row["who"] + (f" via {row['surface']}" if row["surface"] else "")
        style = {"deny": "removed", "allow": "good"}.get(str(deed), "")
        session = "" if row["session_id"] == OWN else row["session_id"][:8]
        told = (str(deed or row["kind"]), style)
        yield str(row["seq_no"]), ((clock, "dim"), told, str(about), who, row["source"], row["kind"], session)


def detail_lines(row: Json) -> Iterator[Line]:
    """One deed, whole."""
    for name, value in {**row["what"], "digest": row["digest"], "hash in the chain": row["hash"]}.items():
        if value is not None:
            yield line((f"{name}: ", "dim"), str(value))


class AuditPage(TablePage):
    """Enter shows a deed whole; o reads further back."""

    heading = "Audit"
    columns = ("when", "deed", "about", "who", "source", "kind", "session")
    empty = "Nothing was decided or changed yet."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "older", "older ones"),
        Binding("y", "copy", "copy"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._deeds: dict[str, Json] = {}
        self._reach = REACH

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        """Page by page, until the end of the log."""
        stats = self.face.model.stats
        last = stats["store"]["seq_no"] if stats else 0
        after: int | None = max(0, last - self._reach)
        found: list[Json] = []
        try:
            while after is not None:
                page = await self.face.talk.get("/audit", after=after, limit=1000)
                found += page["audit"]
                after = page["next"]
                self.name_it(f"reading … {len(found):,}")
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        self._deeds = {str(row["seq_no"]): row for row in reversed(found)}
        self.fill(audit_rows(self._deeds.values()))

    def action_older(self) -> None:
        self._reach *= 4
        self.action_reload()

    def action_copy(self) -> None:
        row = self._deeds.get(self.table.pointed or "")
        self.face.copy("\n".join(f"{k}: {v}" for k, v in row.items()) if row else "")

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        row = self._deeds.get(message.key)
        if row is not None:
            self.tell_below(detail_lines(row))
