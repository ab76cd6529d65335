"""The events of a row, joined one after the other."""

from __future__ import annotations

import itertools

import pytest

from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from tests.support.feed import EventStory


def members(rows: FeedRows) -> list[int]:
    row = rows.row(rows.head_of(rows.last))
    assert row is not None
    return [part.seq_no for part in row.parts]


@pytest.mark.parametrize("cut", range(5))
def test_a_row_has_all_its_events_wherever_a_page_ends(cut: int) -> None:
    events = EventStory().gated_call("Bash", {"stdout": "ok"}, command="make").events
    rows = FeedRows()
    rows.append(events[cut:])
    rows.prepend(events[:cut])
    assert members(rows) == [1, 2, 3, 4]
    assert rows.height == 1


def test_two_rows_become_one_when_an_event_joins_them() -> None:
    """A request without the id of its call, the call, and a decision that names both."""
    book = EventStory()
    use = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"}
    book.add("permission.request", {**use, "tool_use_id": None, "request_id": "q"})
    book.add("tool.pre", use)
    rows = FeedRows()
    rows.append(book.events)
    assert rows.height == 2
    decided = {"request_id": "q", "decision_type": "allow", "by": "owner"}
    rows.append([book.add("permission.decision", decided, cause={"tool_use_id": "t"})])
    assert members(rows) == [1, 2, 3]
    assert rows.height == 1


def test_pages_of_one_event_give_the_same_row() -> None:
    events = EventStory().prompt("go").gated_call("Bash", {"stdout": "ok"}, command="make").stops("Done.").events
    rows = FeedRows()
    for event in reversed(events):
        rows.prepend([event])
    whole = FeedRows()
    whole.append(events)
    numbers = list(itertools.chain.from_iterable([rows.head_of(n)] for n in range(1, 9)))
    assert numbers == [whole.head_of(n) for n in range(1, 9)]
    assert rows.height == whole.height
