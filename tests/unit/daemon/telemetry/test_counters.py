"""The daemon's own numbers: bounded, cumulative, and correct about stalls."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.daemon.telemetry.counters import (
    BUSY_SECONDS,
    MAX_SESSIONS,
    SECONDS,
    Histogram,
    Lag,
    Peak,
    Stats,
    percentile,
)


@given(st.lists(st.floats(min_value=0, max_value=100)))
def test_a_histogram_counts_each_value_in_every_bucket_it_fits(values: list[float]) -> None:
    histogram = Histogram(SECONDS)
    for value in values:
        histogram.observe(value)
    found = histogram.snapshot()
    assert found["count"] == len(values)
    assert found["sum"] == pytest.approx(sum(values))
    assert found["buckets"] == [[bound, sum(v <= bound for v in values)] for bound in SECONDS]


@given(st.lists(st.floats(min_value=0, max_value=100), min_size=1), st.sampled_from([1, 50, 99, 100]))
def test_a_percentile_is_the_smallest_value_that_covers_its_part(values: list[float], part: int) -> None:
    ordered = sorted(values)
    found = percentile(ordered, part)
    assert found is not None
    assert sum(v <= found for v in values) >= len(values) * part / 100
    assert sum(v < found for v in values) < len(values) * part / 100


def test_an_empty_list_has_no_percentile() -> None:
    assert percentile([], 99) is None


def test_the_overhead_of_a_session_adds_up_and_the_most_expensive_comes_first() -> None:
    stats = Stats()
    for seconds, session in ((0.0, "quick"), (5000.0, "slow"), (5000.0, "slow")):
        stats.count_answer(session, time.perf_counter() - seconds)
    slow, quick = stats.hook_overhead()
    assert (slow["session_id"], slow["calls"], quick["session_id"], quick["calls"]) == ("slow", 2, "quick", 1)
    assert slow["seconds"] == pytest.approx(10_000, abs=60)
    assert slow["mean_seconds"] == slow["seconds"] / 2
    assert stats.hook_seconds.snapshot()["count"] == 3


def test_sessions_are_bounded_and_the_one_with_the_oldest_call_is_forgotten() -> None:
    stats = Stats()
    for n in range(MAX_SESSIONS):
        stats.count_answer(f"s{n}", time.perf_counter())
    stats.count_answer("s0", time.perf_counter())
    stats.count_answer("one more", time.perf_counter())
    assert len(stats.sessions) == MAX_SESSIONS
    assert "s0" in stats.sessions
    assert "s1" not in stats.sessions


def test_a_long_stall_weighs_as_much_as_it_lasted() -> None:
    lag = Lag()
    lag.add(9.5 * BUSY_SECONDS, now=1.0)
    lag.add(-0.001, now=1.0)
    found = lag.snapshot(now=1.0)
    assert (found["samples"], found["count"], found["max"]) == (11, 11, 9.5 * BUSY_SECONDS)
    assert found["p50"] == pytest.approx(4.5 * BUSY_SECONDS)


def test_old_lag_leaves_the_window_and_stays_in_the_histogram() -> None:
    lag = Lag()
    lag.add(BUSY_SECONDS / 2, now=1.0)
    found = lag.snapshot(now=100.0)
    assert (found["samples"], found["p99"], found["count"]) == (0, None, 1)


def test_a_peak_is_forgotten_after_two_minutes() -> None:
    peak = Peak()
    peak.observe(7, now=1000.0)
    peak.observe(3, now=1061.0)
    assert (peak.value(1061.0), peak.value(1122.0), peak.value(1300.0)) == (7, 3, 0)
