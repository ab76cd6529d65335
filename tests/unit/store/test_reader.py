"""Several queries at a time, none of them without end; and the runs of a session page by page."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from quarterdeck.errors import TooSlow
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import FeedQuery, Reader
from quarterdeck.views.run_history import run_records
from tests.support.scene import Scene, bash


@pytest.fixture
def log(tmp_path: Path) -> Log:
    scene = Scene()
    for n in range(40):
        scene.receives("UserPromptSubmit", session=f"s{n % 2}", prompt=f"go {n}")
        scene.receives("PreToolUse", session=f"s{n % 2}", **bash("make", f"t{n}"))
        scene.receives("Stop", session=f"s{n % 2}")
    log = Log.open(tmp_path / "events.db")
    log.append([Entry(scene.events)])
    return log


def test_a_query_while_another_runs_has_a_connection_of_its_own(log: Log) -> None:
    reader = Reader(log.path, connections=2)
    results = list[int]()
    with reader._connection():
        thread = threading.Thread(target=lambda: results.append(len(reader.feed(FeedQuery(limit=5)).events)))
        thread.start()
        thread.join(60)
    assert results == [5]
    reader.close()
    log.close()


def test_a_query_without_an_end_is_a_named_error_and_the_connection_stays_usable(log: Log) -> None:
    reader = Reader(log.path, seconds=0.0)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(TooSlow, match="ask for less"), reader._connection() as connection:
        connection.db.execute(endless).fetchall()
    assert reader.request("none") is None
    reader.close()
    log.close()


def test_pages_of_runs_together_are_all_runs_from_either_end(log: Log) -> None:
    reader = Reader(log.path)
    forwards, after = list[str](), 0
    while True:
        page = reader.run_events("s1", after, None, 3)
        forwards += [run.run_id for run in run_records(page.events, None)]
        if page.next is None:
            break
        after = page.next
    backwards, before = list[str](), 2**53
    while True:
        page = reader.run_events("s1", None, before, 3)
        backwards = [run.run_id for run in run_records(page.events, None)] + backwards
        if page.previous is None:
            break
        before = page.previous
    assert forwards == backwards == [f"s1:R{n}" for n in range(1, 21)]
    reader.close()
    log.close()
