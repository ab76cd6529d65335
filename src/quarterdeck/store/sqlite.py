"""Connections to the files of the store, and transactions on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write, for one thread at a time. Texts are bytes: a damaged one could not be read
    otherwise, and the others are decoded once, by their reader."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    db.text_factory = bytes
    db.execute("PRAGMA busy_timeout=2000")
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All that is written here, or nothing. It begins with the write lock: a transaction that takes it later may fail
    half-way, when another writer was faster."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk may have ended it already
            db.execute("ROLLBACK")
        raise
