"""Events folded into rows. Pure: the same events give the same rows, in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.feed.row_keys import head_order, row_keys
from quarterdeck.core.text.feed.row_order import MOST_EVENTS_BACK, Moment, announced, place, said_at

Event = dict[str, Any]

OVER = frozenset({"run.end", "session.end", "run.start"})
"""Kinds after which nothing from before is running in a session."""


class EventRow(Struct, frozen=True):
    """The events of one row in the order of the log. The row is placed at its head. `over`: its run has ended, so
    nothing in it runs any more."""

    events: tuple[Event, ...]
    over: bool = False

    @property
    def head(self) -> Event:
        return min(self.events, key=lambda event: head_order(event["kind"], event["seq_no"]))

    def last(self, *kinds: str) -> Event | None:
        """The last event of these kinds."""
        return next((event for event in reversed(self.events) if event["kind"] in kinds), None)


def fold(events: Iterable[Event]) -> list[EventRow]:
    """The rows of these events from the top. Each event is in exactly one row."""
    log = sorted({event["seq_no"]: event for event in events}.values(), key=lambda event: int(event["seq_no"]))
    places = {event["seq_no"]: _place(log, index) for index, event in enumerate(log)}
    over = {event["session_id"]: event["seq_no"] for event in log if event["kind"] in OVER}
    rows = (EventRow(tuple(row), row[0]["seq_no"] < over.get(row[0]["session_id"], 0)) for row in _joined(log))
    return sorted(rows, key=lambda row: places[row.head["seq_no"]])


def _joined(log: list[Event]) -> Iterator[list[Event]]:
    """The events of each row."""
    rows: dict[str, list[Event]] = {}
    made: list[list[Event]] = []
    for event in log:
        keys = row_keys(event)
        found = [rows[key] for key in keys if key in rows]
        row = min(found, key=lambda row: int(row[0]["seq_no"])) if found else []
        for other in found:
            if other is not row:
                row += other
                rows.update(dict.fromkeys([key for one in other for key in row_keys(one)], row))
                made = [one for one in made if one is not other]
        if not row:
            made.append(row)
        row.append(event)
        rows.update(dict.fromkeys(keys, row))
    for row in made:
        yield sorted(row, key=lambda event: int(event["seq_no"]))


def _place(log: list[Event], index: int) -> int:
    event = log[index]
    at = said_at(event)
    if at is None:
        return place(event["seq_no"])
    earlier = reversed(log[max(0, index - MOST_EVENTS_BACK) : index])
    return place(event["seq_no"], announced(_moment(event), at, map(_moment, earlier)))


def _moment(event: Event) -> Moment:
    return Moment(event["seq_no"], event["at"], event["run_id"], event["actor_id"], event["kind"])
