"""Rows to jump to, and the matches of a search."""

from __future__ import annotations

from quarterdeck.surfaces.tui.feed.rows.jump import contains, of_kind, shown_matches
from quarterdeck.surfaces.tui.feed.rows.rows import FeedRows
from tests.support.feed import EventStory


def test_a_match_in_any_event_of_a_row_counts_once_and_is_its_row() -> None:
    rows = FeedRows()
    rows.append(EventStory().gated_call("Bash", {"stdout": "make done"}, command="make").says("made").events)
    assert [n for n in shown_matches(rows, contains("make")) if n is not None] == [1]
    assert [n for n in shown_matches(rows, contains("MADE")) if n is not None] == [5]


def test_a_request_to_jump_to_is_a_row_that_waits() -> None:
    rows = FeedRows()
    rows.append(EventStory().gated_call("Bash", command="a").asks("Bash", decided=None, command="b").events)
    assert [n for n in rows.seek(of_kind("request", rows), 0, 1) if n is not None] == [5]
