"""Folding: one row for each tool call, prompt and end of a turn, and nothing lost."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.feed.event_rows import fold
from tests.support.feed import START, Event, EventStory
from tests.support.feed_days import PARTS, events_of


def kinds(events: list[Event]) -> list[list[str]]:
    return [[event["kind"] for event in row.events] for row in fold(events)]


def test_a_call_its_request_its_decision_and_its_result_are_one_row() -> None:
    assert kinds(events_of(["ask"])) == [["tool.pre", "permission.request", "permission.decision", "tool.post"]]


def test_the_to_dos_that_a_call_changed_are_part_of_its_row() -> None:
    assert kinds(events_of(["todo"])) == [["tool.pre", "tool.post", "todo.add"]]


def test_the_end_of_a_turn_is_one_row() -> None:
    book = EventStory().prompt("go").stops("Done.")
    book.add("turn.result", {"subtype": "success"}, **{"run_id": "s1:R1"})
    assert kinds(book.events) == [["run.start", "user.prompt"], ["stop.request", "run.end", "turn.result"]]


def test_a_text_stands_before_the_calls_it_announces_and_before_the_stop() -> None:
    book = EventStory().prompt("go").call("Read", file_path="/a").call("Bash", command="ls")
    book.add("message.assistant", {"text": "I look first.", "said_at": book.events[2]["at"] - 0.1})
    at = book.next
    book.stops("Done.")
    book.add("message.assistant", {"text": "Done.", "said_at": START + at * 0.5}, **{"run_id": "s1:R1"})
    assert [row[0] for row in kinds(book.events)] == [
        *("run.start", "message.assistant", "tool.pre", "tool.pre", "message.assistant", "stop.request")
    ]


@given(st.lists(st.sampled_from(PARTS), max_size=30), st.integers(0, 1000))
def test_the_order_in_which_events_come_changes_nothing(parts: list[str], seed: int) -> None:
    log = events_of(parts)
    mixed = list(log)
    random.Random(seed).shuffle(mixed)
    assert fold(mixed) == fold(log)


@given(st.lists(st.sampled_from(PARTS), max_size=30))
def test_every_event_is_in_exactly_one_row(parts: list[str]) -> None:
    log = events_of(parts)
    inside = [event["event_id"] for row in fold(log) for event in row.events]
    assert sorted(inside) == sorted(event["event_id"] for event in log)


@given(st.lists(st.sampled_from(["call", "fail", "ask"]), min_size=1, max_size=8), st.data())
def test_a_text_stands_at_the_same_place_wherever_in_its_turn_it_was_recorded(
    parts: list[str], data: st.DataObject
) -> None:
    calls = events_of(parts)
    first = data.draw(st.sampled_from([n for n, event in enumerate(calls) if event["kind"] == "tool.pre"]))
    recorded = data.draw(st.integers(first + 1, len(calls)))
    message = EventStory().add("message.assistant", {"text": "I look.", "said_at": calls[first]["at"]})
    message["at"] = calls[recorded - 1]["at"]
    log = [*calls[:recorded], message, *calls[recorded:]]
    for number, event in enumerate(log, 1):
        event.update(seq_no=number, event_id=f"s1:R1:E{number}")
    heads = [row.head for row in fold(log)]
    assert heads[heads.index(message) + 1] is calls[first]
