"""Rows one after the other: each once, when it is complete."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.feed.row_stream import RowStream
from quarterdeck.core.text.feed.row_words import row_words
from tests.support.feed import EventStory
from tests.support.feed_days import PARTS, events_of


def lines(book: EventStory) -> list[str]:
    return [row_words(row).line for row in RowStream().add(book.events)]


def test_a_call_is_printed_once_with_its_outcome() -> None:
    assert lines(EventStory().gated_call("Bash", "made", command="mkdir out2")) == [
        "● Bash mkdir out2  ✓ rule Bash(*)  40 ms"
    ]


def test_a_request_is_printed_at_once_and_its_call_again_when_it_is_done() -> None:
    book, stream = EventStory().gated_call("Bash", "made", held=True, command="make"), RowStream()
    made = [[row_words(row).line for row in stream.add([event])] for event in book.events]
    assert made == [[], ["◆ Bash make  needs you"], [], ["● Bash make  ✓ rule Bash(*)  40 ms"]]


def test_a_denied_call_is_printed_when_it_is_denied() -> None:
    assert lines(EventStory().gated_call("Bash", decided="deny", command="rm x"))[-1] == "● Bash rm x  ✗ rule Bash(*)"


def test_a_call_that_runs_is_printed_at_the_end() -> None:
    book, stream = EventStory().call("Bash", command="sleep 9"), RowStream()
    assert list(stream.add(book.events[:1])) == []
    assert [row_words(row).line for row in stream.rest()] == ["● Bash sleep 9  running"]
    assert list(stream.rest()) == []


def test_a_prompt_and_the_end_of_its_turn_are_a_line_each() -> None:
    book = EventStory().prompt("go").stops("Done.")
    book.add("turn.result", {"subtype": "success", "is_error": False}, run_id="s1:R1")
    assert lines(book) == ["❯ go", "· run.end"]


@given(st.lists(st.sampled_from(PARTS), max_size=30))
def test_every_event_is_printed_or_belongs_to_a_row_that_is(parts: list[str]) -> None:
    stream, log = RowStream(), events_of(parts)
    given_rows = [*stream.add(log), *stream.rest()]
    inside = {event["event_id"] for row in given_rows for event in row.events}
    left_out = [event["kind"] for event in log if event["event_id"] not in inside]
    assert set(left_out) <= {"todo.add"}
