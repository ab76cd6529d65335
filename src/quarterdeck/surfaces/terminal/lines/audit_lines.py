"""The audit: one row for each entry, and all of an entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.request_card import outcome_lines
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TableRows, line
from quarterdeck.surfaces.text.audit_labels import audit_action, audit_actor, audit_session, audit_source
from quarterdeck.surfaces.text.labels import date_and_time

Json = dict[str, Any]
MOST_LINES = 300
"""Lines that are shown of a request's input."""

SUBJECT_FIELDS = ("tool_name", "pattern", "name", "key", "path")
"""Fields that can name the subject of an audit entry; the first one that is set counts."""


def audit_rows(rows: Iterable[Json]) -> TableRows:
    """One row for each audit entry."""
    for row in rows:
        details = row["what"]
        about = row.get("about") or next((details[name] for name in SUBJECT_FIELDS if details.get(name)), "")
        style = {"deny": "removed", "allow": "good"}.get(details.get("decision_type") or details.get("effect"), "")
        action = (audit_action(row), style)
        yield (
            str(row["seq_no"]),
            (
                (date_and_time(row["at"]), "dim"),
                action,
                str(about),
                audit_actor(row),
                audit_source(row),
                audit_session(row),
            ),
        )


def audit_lines(row: Json) -> Iterator[StyledLine]:
    """All of one audit entry."""
    for name, value in {
        "kind": row["kind"],
        **row["what"],
        "digest": row["digest"],
        "hash in the chain": row["hash"],
    }.items():
        if value is not None:
            yield line((f"{name}: ", "dim"), str(value))


def decided_request_lines(request: Json) -> Iterator[StyledLine]:
    """The request that was decided: its input, when it was opened, and how it ended."""
    sub = f" · sub-agent {request['agent_type'] or request['agent_id']}" if request["agent_id"] else ""
    yield line(
        (request["tool_name"] or request["kind"], "strong"),
        (f" · asked {date_and_time(request['opened_at'])}{sub}", "dim"),
    )
    lines = list(islice(body({**request, "diff": None, "change": None}), MOST_LINES + 1))
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield line(("… and more than is shown here", "warn"), indent=2)
    yield from islice(outcome_lines(request), MOST_LINES)
