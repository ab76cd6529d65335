"""Who decided and changed what, the newest first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.core.model.events import OWN
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.request_card import body
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.audit_labels import deed, doer
from quarterdeck.surfaces.text.labels import outcome
from quarterdeck.surfaces.tui.screens.table_screen import TablePage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
REACH = 20_000
"""How many events of the log are looked at for what is to be audited, at first; older ones on demand."""

MOST_LINES = 300
"""Of what was asked for, so many lines are shown."""

ABOUT = ("tool_name", "pattern", "name", "key", "path")
"""Where a deed says what it is about, the first that is there."""


def audit_rows(rows: Iterable[Json]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each deed on a row."""
    for row in rows:
        what = row["what"]
        about = row.get("about") or next((what[name] for name in ABOUT if what.get(name)), "")
        style = {"deny": "removed", "allow": "good"}.get(what.get("decision_type") or what.get("effect"), "")
        session = "" if row["session_id"] == OWN else row["session_id"][:8]
        told = (deed(row), style)
        yield str(row["seq_no"]), ((_clock(row["at"]), "dim"), told, str(about), doer(row), row["source"], session)


def detail_lines(row: Json) -> Iterator[Line]:
    """One deed, whole."""
    for name, value in {
        "kind": row["kind"],
        **row["what"],
        "digest": row["digest"],
        "hash in the chain": row["hash"],
    }.items():
        if value is not None:
            yield line((f"{name}: ", "dim"), str(value))


def request_lines(request: Json) -> Iterator[Line]:
    """The request that a deed decided: what was asked for, when, and how it ended."""
    sub = f" · sub-agent {request['agent_type'] or request['agent_id']}" if request["agent_id"] else ""
    yield line(
        (request["tool_name"] or request["kind"], "strong"), (f" · asked {_clock(request['opened_at'])}{sub}", "dim")
    )
    asked_for = list(islice(body({**request, "diff": None, "change": None}), MOST_LINES + 1))
    yield from asked_for[:MOST_LINES]
    if len(asked_for) > MOST_LINES:
        yield line(("… and more than is shown here", "warn"), indent=2)
    made = request["decision"] or {}
    yield line(("→ ", "strong"), (outcome(request), "strong"))
    for name in ("message", "note"):
        if made.get(name):
            yield line((f"{name}: ", "dim"), str(made[name]))
    if made.get("updated_input"):
        yield line(("it ran with", "dim"))
        yield from islice(body({**request, "form": None, "tool_input": made["updated_input"]}), MOST_LINES)


def _clock(at: float) -> str:
    return time.strftime("%d %b %H:%M", time.localtime(at))


class AuditPage(TablePage):
    """Enter shows a deed whole, with the request that it decided; o reads further back."""

    heading = "Audit"
    columns = ("when", "deed", "about", "who", "source", "session")
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
            self._show_request(row)

    @work(exclusive=True, group="request")
    async def _show_request(self, row: Json) -> None:
        """Above the deed, the request that it was about; one that is no longer kept is left out."""
        request_id = row["what"].get("request_id")
        if not request_id:
            return
        try:
            request = await self.face.talk.request(request_id)
        except QuarterdeckError:
            return
        self.tell_below([*request_lines(request), Line(), *detail_lines(row)])
