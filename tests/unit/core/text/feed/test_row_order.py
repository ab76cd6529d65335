"""The place of the agent's text among the rows."""

from __future__ import annotations

import pytest

from quarterdeck.core.text.feed.row_order import MOST_EVENTS_BACK, Moment, announced, place, said_at
from tests.support.feed import EventStory

MESSAGE = Moment(9, 109.0, "s1:R1", "agent:root", "message.assistant")


def call(seq_no: int, at: float, *, run: str = "s1:R1", actor: str = "agent:root", kind: str = "tool.pre") -> Moment:
    return Moment(seq_no, at, run, actor, kind)


def test_a_text_announces_the_first_call_after_it_was_said() -> None:
    earlier = [call(8, 108.0), call(7, 107.0), call(6, 104.0)]
    assert announced(MESSAGE, 105.0, earlier) == 7
    assert announced(MESSAGE, 108.5, earlier) == 0
    assert announced(MESSAGE, 100.0, earlier) == 6


def test_a_text_announces_nothing_of_another_turn_or_actor() -> None:
    assert announced(MESSAGE, 100.0, [call(8, 108.0, run="s1:R2")]) == 0
    assert announced(MESSAGE, 100.0, [call(8, 108.0, actor="subagent:a")]) == 0
    assert announced(MESSAGE, 100.0, [call(8, 108.0, actor="system", kind="run.end")]) == 8


def test_a_text_is_moved_only_so_far() -> None:
    late = MESSAGE._replace(seq_no=10 + MOST_EVENTS_BACK)
    assert announced(late, 100.0, [call(9, 109.0)]) == 0
    assert announced(late, 100.0, [call(10, 109.0)]) == 10


def test_moved_rows_stand_in_log_order_just_before_what_they_announce() -> None:
    assert sorted([place(5), place(4), place(7, 5), place(9, 5), place(6)]) == [
        *(place(4), place(7, 5), place(9, 5), place(5), place(6))
    ]


@pytest.mark.parametrize("at", [None, "soon", True, -1.0, 1e12])
def test_a_time_that_cannot_be_true_moves_nothing(at: object) -> None:
    assert said_at(EventStory().add("message.assistant", {"text": "x", "said_at": at})) is None
