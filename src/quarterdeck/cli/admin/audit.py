"""`qd audit`: who decided and changed what."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

from rich.table import Table
from rich.text import Text

from quarterdeck.cli.common import (
    Columns,
    Json,
    Output,
    cell,
    client,
    command,
    group,
    known_kinds,
    option,
    out,
    project_id_named,
    table,
)
from quarterdeck.cli.output.export_formats import csv_lines
from quarterdeck.cli.output.time_args import SINCE, read_time
from quarterdeck.core.model.events import AUDIT_KINDS
from quarterdeck.surfaces.text.audit_labels import audit_action, audit_actor, audit_session
from quarterdeck.surfaces.text.labels import date_and_time

app = group("Show the audit.")
STYLES = {"allowed": "green", "answered": "green", "denied": "red", "refused": "red", "failed": "red"}
CSV_COLUMNS = ("seq_no", "at", "kind", "who", "surface", "source", "session_id", "about", "digest", "hash")
GAP = 2
"""Cells between two columns."""


@command(app)
def audit(
    number: Annotated[
        int, option("Maximum number of entries, the latest ones.", "-n", "--limit", min=1, max=1000)
    ] = 50,
    since: Annotated[str | None, option(f"Only entries since then: {SINCE}.")] = None,
    until: Annotated[str | None, option(f"Only entries until then: {SINCE}.")] = None,
    project: Annotated[str | None, option("Only sessions of this project, by its name or folder.")] = None,
    who: Annotated[str | None, option("Only entries by this caller, like owner or a token's name.")] = None,
    kind: Annotated[list[str] | None, option("Only this kind of event; repeatable.")] = None,
    csv: Annotated[bool, option("Print a table for spreadsheets.", "--csv")] = False,
) -> Output:
    """Show who decided and changed what, oldest first."""
    api = client()
    filters = {
        "since": read_time(since) if since else None,
        "until": read_time(until) if until else None,
        "project_id": project_id_named(api, project) if project is not None else None,
        "who": who,
        "kind": known_kinds(kind, AUDIT_KINDS, "audit entry", f"must be one of {', '.join(AUDIT_KINDS)}"),
    }
    rows = api.get("/api/v1/audit", before=2**53, limit=number, **filters)["audit"]
    value = {"audit": rows, "next": rows[-1]["seq_no"] if rows else None}
    if csv:
        sys.stdout.writelines(csv_lines(CSV_COLUMNS, map(_csv_cells, rows)))
        return Output(value)
    is_filtered = any(value is not None for value in filters.values())
    hint = "No matching entries." if is_filtered else "Nothing was decided or changed yet."
    return Output(value, [_table(rows) if rows else hint])


def _csv_cells(row: Json) -> list[object]:
    when = datetime.fromtimestamp(row["at"], UTC).isoformat()
    return [when if name == "at" else row[name] for name in CSV_COLUMNS]


def _table(rows: list[Json]) -> Table:
    columns: Columns = {
        "when": lambda row: cell(date_and_time(row["at"]), "dim"),
        "action": _action,
        "who": audit_actor,
        "session": audit_session,
    }
    beside = out.measure(table(rows, columns)).maximum + GAP
    shown = table(rows, columns | {"about": "about"})
    # Without a limit, one long text would squeeze all other columns, in a pipe too.
    shown.columns[-1].max_width = max(20, out.width - beside)
    return shown


def _action(row: Json) -> Text:
    done = audit_action(row)
    return cell(done, STYLES.get(done, ""))
