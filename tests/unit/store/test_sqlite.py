"""Connections and transactions."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from quarterdeck.store.sqlite import read_only, transaction


@pytest.fixture
def path(tmp_path: Path) -> Path:
    db = sqlite3.connect(tmp_path / "a.db")
    with db:
        db.execute("CREATE TABLE t(word TEXT UNIQUE)")
    db.close()
    return tmp_path / "a.db"


def test_a_transaction_that_fails_leaves_nothing_and_ends(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        db.executemany("INSERT INTO t VALUES(?)", [("a",), ("a",)])
    with transaction(db):
        db.execute("INSERT INTO t VALUES('b')")
    assert db.execute("SELECT word FROM t").fetchall() == [("b",)]
    db.close()


def test_a_reader_cannot_write(path: Path) -> None:
    db = read_only(path)
    with pytest.raises(sqlite3.OperationalError):
        db.execute("INSERT INTO t VALUES('a')")
    db.close()


def test_a_damaged_text_can_be_read(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("INSERT INTO t VALUES(CAST(x'ff' AS TEXT))")
    db.close()
    db = read_only(path)
    assert db.execute("SELECT word FROM t").fetchall() == [(b"\xff",)]
    db.close()
