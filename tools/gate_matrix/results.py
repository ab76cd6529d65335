"""The table: for every fault what ran against a deny, which requests were lost, and what was stuck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

STUCK_SECONDS = 5.0
HEADS = ("version", "gate", "fault", "trials", "calls", "ran", "requests", "lost", "stuck", "slowest s", "outcomes")


class Row(Struct, frozen=True, kw_only=True):
    """One outcome of one trial, as it is written to the file of results."""

    version: str
    gate: str
    fault: str
    trial: int
    kind: str
    age: str
    state: str
    what: str
    seconds: float


def table(rows: Iterable[Row]) -> str:
    """The results by version, gate and fault, and their sum."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.version, row.gate, row.fault), []).append(row)
    lines = [HEADS, *((*key, *_counts(found)) for key, found in groups.items())]
    lines.append(("all", "", "", *_counts([row for found in groups.values() for row in found])))
    widths = [max(len(str(line[at])) for line in lines) for at in range(len(HEADS))]
    return "\n".join(
        "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )


def _counts(rows: list[Row]) -> tuple[Any, ...]:
    denied = [row for row in rows if row.state == "idle"]
    waited = [row for row in rows if row.state == "pending"]
    outcomes = Counter(f"{row.state} {row.what}" for row in rows)
    return (
        len({(row.version, row.gate, row.fault, row.trial) for row in rows}),
        len(denied),
        sum(row.what == "ran" for row in denied),
        len(waited),
        sum(row.what not in ("decided", "released") for row in waited),
        sum(is_stuck(row) for row in rows),
        max((row.seconds for row in rows), default=0.0),
        ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items())),
    )


def is_stuck(row: Row) -> bool:
    """True for a call that nobody refused, asked about or finished in time, and for a request that came back late."""
    return row.what == "waits" or row.seconds > STUCK_SECONDS
