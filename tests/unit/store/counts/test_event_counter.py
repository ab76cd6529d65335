"""Counts over time equal a count over the log, in whatever parts it was counted, after every restart and every trim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.events import OWN
from quarterdeck.errors import StoreError
from quarterdeck.store.counts.counts_file import settled_upto
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.log import Entry, Log
from tests.support.counts import count_all, counted, stored, write_day
from tests.support.random_story import Story, stories


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = Log.open(tmp_path / "events.db", durability="normal")
    yield opened
    opened.close()


def interrupt(counter: EventCounter, steps: int) -> None:
    """Let a chunk fail after so many steps of SQLite, as on a full disk."""
    left = iter(range(steps))
    counter._db.set_progress_handler(lambda: next(left, None) is None, 1)
    try:
        counter.add()
    except StoreError:
        pass
    finally:
        counter._db.set_progress_handler(None, 0)


actions = st.one_of(
    st.tuples(st.just("write"), st.integers(1, 12)),
    st.tuples(st.just("count"), st.integers(1, 3)),
    st.tuples(st.just("fail"), st.integers(1, 400)),
    st.tuples(st.just("restart"), st.just(0)),
    st.tuples(st.just("trim"), st.integers(1, 30)),
)


@given(stories(), st.lists(actions, max_size=20), st.integers(1, 7))
def test_counts_equal_a_count_over_the_log_after_any_failure_and_any_trim(
    story: Story, taken: list[tuple[str, int]], chunk: int
) -> None:
    with TemporaryDirectory() as folder:
        log = Log.open(Path(folder) / "events.db", durability="normal")
        counter, rest = EventCounter(log.path, chunk=chunk), story.events
        for action, number in taken:
            if action == "write":
                part, rest = rest[:number], rest[number:]
                log.append([Entry(part)])
            elif action == "count":
                for _ in range(number):
                    counter.add()
            elif action == "fail":
                interrupt(counter, number)
            elif action == "restart":
                counter.close()
                counter = EventCounter(log.path, chunk=chunk)
            else:
                log.save_snapshot(story.state)
                log.trim(min(number, settled_upto(log.path)), at=0.0, why="a test")
        log.append([Entry(rest)])
        count_all(counter)
        assert stored(log.path) == counted(story.events)
        assert settled_upto(log.path) == len(story.events)
        counter.close()
        log.close()


def test_trimmed_events_stay_in_the_counts(log: Log) -> None:
    scene = write_day(log, 8)
    counter = EventCounter(log.path)
    count_all(counter)
    before = stored(log.path)
    assert log.trim(settled_upto(log.path), at=0.0, why="a test") > 0
    again = EventCounter(log.path)
    count_all(again)
    assert stored(log.path) == before == counted(scene.events)
    again.close()
    counter.close()


def test_events_about_the_runner_itself_are_no_session(log: Log) -> None:
    scene = write_day(log, 1)
    assert not any(e.session_id == OWN for e in scene.events)
    assert counted([e for e in scene.events if e.kind == "session.start"]) == {
        ("sessions", "/work/shop", ("claude",)): 1
    }
