"""The pace of a played feed, and its keys."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.output.playback import LONGEST_GAP, PAUSED, Pace, Playback, read_speed
from quarterdeck.errors import Misused


class Keyboard:
    """Keys that are pressed one after the other: each after its seconds, None never."""

    def __init__(self, *presses: tuple[float, bytes | None]) -> None:
        self.now = 100.0
        self.waits: list[float | None] = []
        self.notices: list[str] = []
        self._presses = list(presses)

    def press(self, seconds: float | None) -> bytes | None:
        self.waits.append(seconds)
        after, key = self._presses.pop(0) if self._presses else (seconds or 0.0, None)
        self.now += after
        return key

    def plays_on(self, seconds: float) -> bool:
        return Playback(self.press, self.notices.append, lambda: self.now).wait(seconds)


def test_gaps_are_shortened_and_then_played_at_the_speed() -> None:
    pace = Pace(2.0)
    assert [pace.seconds_before(at) for at in (1000.0, 1003.0, 90_000.0, 80_000.0)] == [0.0, 1.5, LONGEST_GAP / 2, 0.0]


@given(st.lists(st.floats(0, 4e9)), st.floats(0.001, 1e6) | st.just(math.inf))
def test_no_wait_is_negative_or_longer_than_a_gap(times: list[float], speed: float) -> None:
    pace = Pace(speed)
    waits = [pace.seconds_before(at) for at in times]
    assert all(0 <= wait <= LONGEST_GAP / speed for wait in waits)
    assert speed != math.inf or not any(waits)


def test_speeds_are_factors_and_max() -> None:
    assert [read_speed(text) for text in ("1", "0.5", "1e3", "0", "max", "inf")] == [1, 0.5, 1000, *[math.inf] * 3]
    for wrong in ("-1", "nan", "fast", "", "10x"):
        with pytest.raises(Misused, match="--speed"):
            read_speed(wrong)


def test_without_a_key_the_time_passes() -> None:
    keyboard = Keyboard()
    assert keyboard.plays_on(3.0)
    assert (keyboard.waits, keyboard.notices) == ([3.0], [])


def test_a_pause_lasts_until_the_next_space_and_then_the_rest_of_the_gap_passes() -> None:
    keyboard = Keyboard((1.0, b" "), (500.0, b"x"), (500.0, b" "))
    assert keyboard.plays_on(3.0)
    assert (keyboard.waits, keyboard.notices) == ([3.0, None, None, 2.0], [PAUSED])


@pytest.mark.parametrize("key", [b"q", b"", b"\x04"])
def test_a_person_ends_it_while_it_plays_and_while_it_is_paused(key: bytes) -> None:
    assert not Keyboard((1.0, key)).plays_on(3.0)
    assert not Keyboard((1.0, b" "), (1.0, key)).plays_on(3.0)


def test_other_keys_do_not_shorten_a_gap() -> None:
    keyboard = Keyboard((1.0, b"x"), (1.0, b"y"))
    assert keyboard.plays_on(3.0)
    assert keyboard.waits == [3.0, 2.0, 1.0]
