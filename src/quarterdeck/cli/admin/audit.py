"""Who decided and changed what."""

from __future__ import annotations

import difflib
import time
from typing import Annotated

import typer
from rich.table import Table

from quarterdeck.cli.common import AsJson, cell, client, out, plainly, print_json
from quarterdeck.cli.output.time_args import read_time
from quarterdeck.core.model.events import AUDIT_KINDS, OWN
from quarterdeck.errors import Refused
from quarterdeck.surfaces.text.audit_labels import deed, doer

STYLES = {"allowed": "green", "answered": "green", "denied": "red", "refused": "red", "failed": "red"}
BESIDE = 58
"""Columns that the others take on a terminal."""


@plainly
def audit(
    number: Annotated[int, typer.Option("-n", "--limit", min=1, max=1000, help="How many, the latest.")] = 50,
    since: Annotated[str | None, typer.Option(help="Not before: 30m, 2h, 7d ago, or a date.")] = None,
    who: Annotated[str | None, typer.Option(help="Only by this one, like owner or a token's name.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be given again.")] = None,
    json: AsJson = False,
) -> None:
    """Show who decided and changed what, oldest first."""
    page = client().get(
        "/api/v1/audit",
        before=2**53,
        limit=number,
        since=read_time(since) if since else None,
        who=who,
        kind=_known(kind),
    )
    rows = page["audit"]
    if json:
        print_json({"audit": rows, "next": rows[-1]["seq_no"] if rows else None})
        return
    if not rows:
        narrowed = since or who or kind
        out.print("Nothing like that is in the audit." if narrowed else "Nothing was decided or changed yet.")
        return
    out.print(_table(rows))


def _known(kinds: list[str] | None) -> list[str] | None:
    for kind in kinds or ():
        if kind not in AUDIT_KINDS:
            near = difflib.get_close_matches(kind, AUDIT_KINDS, n=1)
            also = f"did you mean {near[0]}?" if near else f"there are {', '.join(AUDIT_KINDS)}"
            raise Refused(f"no such kind in the audit: {kind}; {also}")
    return kinds or None


def _table(rows: list[dict[str, object]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("when", "deed", "who", "session"):
        table.add_column(name, no_wrap=True)
    room = max(20, out.width - BESIDE) if out.is_terminal else None
    table.add_column("about", no_wrap=True, overflow="ellipsis", max_width=room)
    for row in rows:
        done = deed(row)
        clock = time.strftime("%d %b %H:%M", time.localtime(float(str(row["at"]))))
        session = "" if row["session_id"] == OWN else str(row["session_id"])[:8]
        table.add_row(
            cell(clock, "dim"), cell(done, STYLES.get(done, "")), cell(doer(row)), cell(session), cell(row["about"])
        )
    return table


def register(cli: typer.Typer) -> None:
    cli.command()(audit)
