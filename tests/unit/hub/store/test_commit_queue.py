"""The group commit: what was confirmed is on disk, in order, and a change that fails takes no other with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.errors import StoreError
from quarterdeck.hub.store.commit_queue import CommitQueue


def put(value: int) -> Callable[[sqlite3.Connection], Any]:
    def change(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO t VALUES(?)", (value,))
        return value

    return change


def fail(db: sqlite3.Connection) -> int:
    db.execute("INSERT INTO t VALUES(99)")
    raise ValueError("no")


def broken(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO missing VALUES(1)")


def test_changes_are_written_in_order_and_a_failure_stays_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.execute("CREATE TABLE t(n)")

    async def story() -> None:
        queue = CommitQueue(db)
        queue.start()
        changes = [put(1), fail, put(2), broken, put(3)]
        results: list[Any] = await asyncio.gather(*(queue.submit(one) for one in changes), return_exceptions=True)
        assert results[0] == 1
        assert isinstance(results[1], ValueError)
        assert isinstance(results[3], StoreError)
        assert queue.trouble is None
        with sqlite3.connect(path) as other:
            assert other.execute("SELECT n FROM t").fetchall() == [(1,), (2,), (3,)]
        later = queue.submit(put(4))
        await queue.stop()
        assert later.result() == 4

    asyncio.run(story())


def test_a_store_that_cannot_be_written_is_named_until_it_can(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    db.execute("CREATE TABLE t(n)")

    async def story() -> None:
        queue = CommitQueue(db)
        queue.start()
        troubles = []
        with pytest.raises(StoreError):
            await queue.submit(broken)
        troubles.append(queue.trouble)
        await queue.submit(put(1))
        troubles.append(queue.trouble)
        assert [one is None for one in troubles] == [False, True]
        await queue.stop()

    asyncio.run(story())
