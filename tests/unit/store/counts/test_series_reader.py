"""Series from the file: what a count of the same time has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.store.counts.calendar import day_of
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.counts.series_reader import read_series
from quarterdeck.store.log import Entry, Log
from quarterdeck.views.counts.metrics import METRICS, MetricName
from quarterdeck.views.counts.series import SeriesQuery
from quarterdeck.views.counts.tally import CountLedger, count_events
from tests.support.counts import count_all, write_day
from tests.support.random_story import Story, stories


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = Log.open(tmp_path / "events.db", durability="normal")
    yield opened
    opened.close()


@given(stories(), st.sampled_from(sorted(METRICS)), st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_series_has_what_a_count_of_its_time_has(story: Story, metric: MetricName, one: float, other: float) -> None:
    since, until = min(one, other), max(one, other)
    with TemporaryDirectory() as folder:
        log = Log.open(Path(folder) / "events.db", durability="normal")
        log.append([Entry(story.events)])
        counter = EventCounter(log.path)
        count_all(counter)
        counter.close()
        log.close()
        for group in (None, *METRICS[metric].groups):
            answer = read_series(log.path, SeriesQuery(metric=metric, group=group, since=since, until=until))
            amount = sum(
                amount
                for key, amount in count_events(story.events, CountLedger(), day_of).days.items()
                if key.metric == metric and day_of(since) <= key.bucket <= day_of(until)
            )
            assert sum(one.total for one in answer.series) == pytest.approx(amount / METRICS[metric].scale)
            assert all(len(one.values) == len(answer.times) for one in answer.series)
            assert answer.times == sorted(answer.times)


def test_events_that_were_trimmed_before_they_were_counted_are_left_out(log: Log) -> None:
    write_day(log, 8)
    went = log.trim(6, at=0.0, why="a test")
    counter = EventCounter(log.path)
    count_all(counter)
    counter.close()
    query = SeriesQuery(metric="prompts", since=0.0, until=9e7)
    answer = read_series(log.path, query)
    assert (answer.first, answer.counted_upto) == (went + 1, log.seq_no)


def test_hook_calls_are_added_to_their_hour(log: Log) -> None:
    counter = EventCounter(log.path)
    counter.add_hook_calls(3, 0.25, 1000.0)
    counter.add_hook_calls(1, 0.5, 1001.0)
    counter.close()
    expected: dict[MetricName, float] = {"hook_calls": 4, "hook_seconds": 0.75}
    for metric, total in expected.items():
        (one,) = read_series(log.path, SeriesQuery(metric=metric, by="hour", since=0.0, until=7200.0)).series
        assert (one.total, one.values) == (total, [total, 0])
