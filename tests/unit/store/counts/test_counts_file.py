"""The file of the counts: one that does not fit the log is kept aside, and nothing else is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.errors import StoreError
from quarterdeck.store.counts.counts_file import counts_path
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.log import Log
from tests.support.counts import count_all, counted, stored, write_day


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    opened = Log.open(tmp_path / "events.db", durability="normal")
    yield opened
    opened.close()


@pytest.mark.parametrize("content", [b"no database at all " * 400, b"SQLite format 3\0" + b"x" * 5_000])
def test_a_damaged_file_is_kept_aside_and_the_log_is_counted_again(log: Log, content: bytes) -> None:
    scene = write_day(log, 3)
    counts_path(log.path).write_bytes(content)
    counter = EventCounter(log.path)
    count_all(counter)
    counter.close()
    assert stored(log.path) == counted(scene.events)
    assert log.path.with_name("counts.unfit.db").read_bytes() == content


def test_the_counts_of_another_log_are_kept_aside(log: Log, tmp_path: Path) -> None:
    write_day(log, 5)
    (tmp_path / "other").mkdir()
    other = Log.open(tmp_path / "other" / "events.db")
    scene = write_day(other, 2, words="others")
    counter = EventCounter(other.path)
    count_all(counter)
    counter.close()
    counts_path(other.path).rename(counts_path(log.path))
    counter = EventCounter(log.path)
    count_all(counter)
    counter.close()
    other.close()
    assert stored(log.path)["prompts", "/work/shop", ("claude",)] == 5
    assert len(scene.events) < log.seq_no
    assert log.path.with_name("counts.unfit.db").exists()


def test_a_file_that_another_program_holds_is_not_thrown_away(log: Log) -> None:
    write_day(log, 3)
    counter = EventCounter(log.path)
    holder = sqlite3.connect(counts_path(log.path), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    counter._db.execute("PRAGMA busy_timeout=0")
    with pytest.raises(StoreError, match="locked"):
        counter.add()
    holder.execute("ROLLBACK")
    holder.close()
    count_all(counter)
    counter.close()
    assert stored(log.path)["prompts", "/work/shop", ("claude",)] == 3
    assert not log.path.with_name("counts.unfit.db").exists()
