"""Attendance: who counts as a person."""

from __future__ import annotations

import pytest

from quarterdeck.api.http.guard import ApiCall
from quarterdeck.daemon.ingest.attendance import ATTENDED_SECONDS, MOST_READS, RETURN_SECONDS, Attendance


class Day:
    """A day with a clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.attendance = Attendance(lambda: self.at)

    def call(self, path: str = "/api/v1/requests", method: str = "GET", *, terminal: bool = False) -> bool:
        self.attendance.called(ApiCall(credential="c", method=method, path=path, from_terminal=terminal))
        return self.attendance.now()

    def later(self, seconds: float) -> bool:
        self.at += seconds
        return self.attendance.now()


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/stats", "/api/v1/clients"])
def test_a_monitoring_program_is_nobody(path: str) -> None:
    assert [Day().call(path) for _ in range(3)] == [False, False, False]


def test_a_call_counts_for_ten_minutes() -> None:
    day = Day()
    assert day.call()
    assert day.later(ATTENDED_SECONDS - 1)
    assert not day.later(1)


def test_polling_counts_once() -> None:
    day = Day()
    day.call()
    answers = []
    for _ in range(20):
        day.at += 60
        answers.append(day.call())
    assert answers == [True] * 9 + [False] * 11


def test_a_read_after_a_long_pause_is_a_person_again() -> None:
    day = Day()
    day.call()
    assert not day.later(ATTENDED_SECONDS)
    assert day.call()


def test_reading_again_from_a_terminal_is_a_person() -> None:
    day = Day()
    for _ in range(20):
        day.at += 60
        assert day.call(terminal=True)


def test_a_change_is_always_a_person() -> None:
    day = Day()
    for _ in range(20):
        day.at += 60
        assert day.call(method="POST")


def test_a_visible_surface_is_a_person_and_a_hidden_one_is_not() -> None:
    day = Day()
    day.attendance.connected(1)
    assert not day.attendance.now()
    day.attendance.showing(1)
    assert day.later(10 * ATTENDED_SECONDS)
    day.attendance.showing(-1)
    assert not day.attendance.now()


def test_a_visible_surface_that_is_lost_may_come_back() -> None:
    day = Day()
    day.attendance.showing(1)
    day.attendance.left_visible()
    day.attendance.showing(-1)
    assert day.later(RETURN_SECONDS - 1)
    assert not day.later(1)


def test_a_lost_surface_never_shortens_the_time_of_a_call() -> None:
    day = Day()
    day.call()
    day.attendance.left_visible()
    assert day.later(ATTENDED_SECONDS - 1)


def test_what_is_remembered_of_reads_is_bounded() -> None:
    day = Day()
    for n in range(2 * MOST_READS):
        day.call(f"/api/v1/requests/r{n}")
    assert len(day.attendance._read) == MOST_READS
