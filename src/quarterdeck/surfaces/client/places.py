"""The order of events: by their number on one machine, by their place in the order of arrival at a hub."""

from __future__ import annotations

from typing import Any


def by_place(event: dict[str, Any]) -> dict[str, Any]:
    """An event as surfaces order it: of a hub's events `seq_no` becomes the place, as the numbers of several machines
    overlap; `log_seq_no` keeps the number in the log of its machine. An event of a daemon stays as it is."""
    place = event.get("place")
    return event if place is None else {**event, "log_seq_no": event["seq_no"], "seq_no": place}


def events_by_place(answer: dict[str, Any]) -> dict[str, Any]:
    """A page of the feed with its events as surfaces order them; any other answer stays as it is."""
    events = answer.get("events")
    if not isinstance(events, list) or not events or "place" not in events[0]:
        return answer
    return {**answer, "events": [by_place(one) for one in events]}
