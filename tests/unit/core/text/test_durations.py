"""Lengths of time in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.text.durations import age_words, duration_words, limit_words, seconds_in


@pytest.mark.parametrize(("typed", "seconds"), [("90s", 90), (" 2 H", 7200), ("5", None), ("1.5h", None)])
def test_a_typed_duration_is_read_as_seconds(typed: str, seconds: float | None) -> None:
    assert seconds_in(typed) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0.4, "0 s"),
        (59.9, "59 s"),
        (60, "1 m"),
        (90, "1 m"),
        (3599.9, "59 m"),
        (3600, "1 h"),
        (86399, "23 h"),
        (200_000, "2 d"),
    ],
)
def test_an_age_is_shown_in_whole_units(seconds: float, words: str) -> None:
    assert age_words(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.031, "31 ms"), (0.9996, "1.0 s"), (4.1, "4.1 s"), (9.96, "10 s"), (59.97, "1 m"), (240, "4 m"), (7200, "2 h")],
)
def test_a_measured_duration_is_exact_while_it_is_short(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "0.5 s"),
        (45, "45 s"),
        (90, "90 s"),
        (60, "1 m"),
        (150, "2.5 m"),
        (300.004, "5 m"),
        (3600, "1 h"),
        (5400, "90 m"),
        (86400, "24 h"),
    ],
)
def test_a_limit_is_shown_in_the_unit_of_the_setting(seconds: float, words: str) -> None:
    assert limit_words(seconds) == words


@given(st.integers(0, 10**9))
def test_an_age_can_be_typed_as_a_duration_and_is_never_longer_than_it_was(seconds: int) -> None:
    typed = seconds_in(age_words(seconds))
    assert typed is not None
    assert typed <= seconds < 2 * max(1, typed)
