"""Backoff: waits double with full jitter, and only a steady link forgets them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.link.backoff import STEADY_SECONDS, Backoff


@pytest.mark.law("H12")
def test_the_longest_waits_double_from_one_to_thirty_seconds() -> None:
    backoff = Backoff(1.0, 30.0)
    assert [backoff.next_delay(1.0) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]


@pytest.mark.law("H12")
@given(st.floats(0, 1), st.integers(0, 10_000))
def test_every_wait_is_a_random_part_of_the_longest(chance: float, attempts: int) -> None:
    backoff = Backoff(1.0, 30.0)
    backoff.attempt = attempts
    assert backoff.next_delay(chance) == chance * min(30.0, 2.0 ** min(attempts, 5))


@pytest.mark.law("H12")
def test_only_thirty_seconds_of_a_ready_link_forget_the_attempts() -> None:
    backoff = Backoff(1.0, 30.0)
    waits = [backoff.next_delay(1.0) for _ in range(3)]
    backoff.ready_for(STEADY_SECONDS - 0.1)
    assert backoff.next_delay(1.0) > waits[-1]
    backoff.ready_for(STEADY_SECONDS)
    assert backoff.next_delay(1.0) == 1.0


def test_the_hub_can_ask_for_a_longer_wait() -> None:
    assert Backoff(1.0, 30.0).next_delay(0.0, retry_after=60.0) == 60.0
    assert Backoff(1.0, 30.0).next_delay(1.0, retry_after=-5.0) == 1.0
