"""Rows for surfaces that print one line after the other and cannot take a line back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.feed.event_rows import EventRow
from quarterdeck.core.text.feed.row_keys import row_keys

Event = dict[str, Any]

MOST_KEYS = 10_000
"""Keys of rows that are remembered; of the oldest row, what is held back is given when it is forgotten."""

ADDED = frozenset({"todo.add", "todo.update", "todo.done", "request.assessed", "turn.result"})
"""Kinds that say nothing more once the row they belong to is printed."""

FINAL = frozenset({"tool.post", "tool.failure", "permission.denied", "run.end", "subagent.stop", "user.prompt"})
"""Kinds after which a row is printed, again if it was printed as waiting."""


class _OpenRow(Struct):
    events: list[Event]
    printed: bool = False


class RowStream:
    """Gives each row once it is complete: a tool call with its outcome, a request at once because a person must see it,
    and everything else as it happens."""

    def __init__(self) -> None:
        self._rows: dict[str, _OpenRow] = {}

    def add(self, events: Iterable[Event]) -> Iterator[EventRow]:
        """Take events in the order of the log; gives the rows that are complete."""
        for event in events:
            yield from self._add(event)
            while len(self._rows) > MOST_KEYS:
                yield from self._given(self._rows.pop(next(iter(self._rows))))

    def rest(self) -> Iterator[EventRow]:
        """The rows that are not complete: calls that still run."""
        for row in list(self._rows.values()):
            yield from self._given(row)
        self._rows.clear()

    def _add(self, event: Event) -> Iterator[EventRow]:
        keys = row_keys(event)
        row = next((self._rows[key] for key in keys if key in self._rows), None)
        if row is None:
            row = _OpenRow([])
        elif row.printed and event["kind"] in ADDED and event["level"] != "error":
            return
        self._rows.update(dict.fromkeys(keys, row))
        row.events.append(event)
        row.printed = row.printed and not _is_final(event)
        if not _is_held_back(event):
            yield from self._given(row)

    def _given(self, row: _OpenRow) -> Iterator[EventRow]:
        if row.events and not row.printed:
            row.printed = True
            yield EventRow(tuple(row.events))


def _is_decision(event: Event, *decisions: str) -> bool:
    data = event.get("data")
    return (
        event["kind"] in ("permission.decision", "question.decision")
        and isinstance(data, dict)
        and data.get("decision_type") in decisions
    )


def _is_final(event: Event) -> bool:
    return event["kind"] in FINAL or _is_decision(event, "deny")


def _is_held_back(event: Event) -> bool:
    """True if what says more is about to follow, and belongs to the same row."""
    data = event.get("data")
    if not isinstance(data, dict):
        return False
    match event["kind"]:
        case "tool.pre" | "stop.failure":
            return bool(row_keys(event))
        case "permission.request" | "question.request":
            return data.get("held") is False  # a rule or the agent's own dialog decides
        case "stop.request":
            return not data.get("request_id") and not data.get("background")
        case "run.start":
            trigger = data.get("trigger")
            return isinstance(trigger, dict) and trigger.get("type") == "user_prompt_submit"
        case _:
            return _is_decision(event, "allow", "answer")
