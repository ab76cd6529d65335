"""The place of a row. Rows follow the log, but the agent's text comes before the calls that it announces: a transcript
is often read after the calls of the same turn were recorded. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from quarterdeck.core.model.events import ROOT, SYSTEM

MESSAGES = frozenset({"message.assistant"})
"""Kinds that may be recorded after what they announce."""

ANNOUNCED = frozenset(
    {"tool.pre", "subagent.start", "subagent.stop", "stop.request", "stop.failure", "turn.result", "run.end"}
)
"""Kinds that an agent's text may announce."""

MOST_EVENTS_BACK = 2000
"""Events of the log by which a text is moved at most: it bounds the search."""


class Moment(NamedTuple):
    """An event as far as its place depends on it."""

    seq_no: int
    at: float
    run: object
    actor: str
    kind: str


def announced(message: Moment, said_at: float, earlier: Iterable[Moment]) -> int:
    """The first event that a message announces, among those before it in the log, the latest first; 0 if there is none.
    It is of the same turn, and happened after the message was said."""
    found = 0
    for one in earlier:
        if one.kind in MESSAGES:
            continue
        if one.at < said_at or message.seq_no - one.seq_no > MOST_EVENTS_BACK:
            break
        if one.kind in ANNOUNCED and one.run == message.run and _is_of(one.actor, message.actor):
            found = one.seq_no
    return found


def _is_of(actor: str, speaker: str) -> bool:
    """True if what this actor did belongs to the speaker: stops and ends of runs are recorded by the system."""
    return actor == speaker or (actor == SYSTEM and speaker == ROOT)


def place(seq_no: int, before: int = 0) -> int:
    """A number that sorts rows: by the log, and those that are moved before an event, in the order of the log."""
    if not before:
        return seq_no << 12 | 4095
    return before << 12 | min(seq_no - before, 4094)


def said_at(event: dict[str, Any]) -> float | None:
    """When a message was said, by the transcript; None for other events and when the transcript does not tell."""
    data = event.get("data")
    if event["kind"] not in MESSAGES or not isinstance(data, dict):
        return None
    at = data.get("said_at")
    return at if isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= event["at"] else None
