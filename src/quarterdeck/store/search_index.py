"""The index of words, in a file of its own beside the log: made from the log, and made again whenever it is lost."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from quarterdeck.core.text.search_terms import searched
from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.wire import read_event

LAYOUT = 1
"""Another number throws old indexes away: raise it when `core/search.py` finds other words in an event."""

CHUNK = 250

TABLES = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='ascii', prefix='2 3 4')",
    "CREATE TABLE mark(seq_no INTEGER NOT NULL, hash BLOB, first INTEGER NOT NULL)",
    "INSERT INTO mark VALUES(0, NULL, 1)",
    f"PRAGMA user_version={LAYOUT}",
)
"""`text` comes as lower-case words with one blank between, so that the ascii tokenizer parts it as the core does.
`mark` is the last event indexed with its hash, by which an index of another log is known, and the first."""


def search_path(log: Path) -> Path:
    """Where the index of this log is."""
    return log.with_name("search.db")


def known_upto(log: Path) -> int:
    """The last event that the index of this log has seen; 0 when there is none or it cannot be read."""
    path = search_path(log)
    if not path.is_file():
        return 0
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return int(db.execute("SELECT seq_no FROM mark").fetchone()[0])
        finally:
            db.close()
    except (sqlite3.Error, TypeError, ValueError):
        return 0


class SearchIndex:
    """The only writer of search.db, used by one thread at a time. Reads the log on a connection of its own."""

    def __init__(self, log: Path) -> None:
        self._path = search_path(log)
        self._log = sqlite3.connect(f"{log.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._log.text_factory = bytes
        self._log.execute("PRAGMA busy_timeout=2000")
        try:
            self._db, self.seq_no = self._open()
        except sqlite3.Error:
            remove(self._path)
            self._db, self.seq_no = self._open()

    def _open(self) -> tuple[sqlite3.Connection, int]:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA wal_autocheckpoint=4000")
            if not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                _make(db)
            if db.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
                raise sqlite3.DatabaseError("another layout")
            seq_no, row_hash = db.execute("SELECT seq_no, hash FROM mark").fetchone()
            if not self._is_of_this_log(seq_no, row_hash):
                raise sqlite3.DatabaseError("of another log")
        except sqlite3.Error:
            db.close()
            raise
        self._path.chmod(0o600)
        return db, int(seq_no)

    def _is_of_this_log(self, seq_no: int, row_hash: bytes | None) -> bool:
        if seq_no <= anchor_of(self._log).seq_no:
            return True
        row = self._log.execute("SELECT hash FROM events WHERE seq_no=?", (seq_no,)).fetchone()
        return row is not None and row[0] == row_hash

    def forget_trimmed(self) -> bool:
        """Start anew where the log begins, once most of what is indexed has left it; whether it was so."""
        trimmed = anchor_of(self._log).seq_no
        first = self._db.execute("SELECT first FROM mark").fetchone()[0]
        if trimmed - first < max(CHUNK, self.seq_no - trimmed):
            return False
        self._write("INSERT INTO words(words) VALUES('delete-all')", [()], trimmed, None, first=trimmed + 1)
        return True

    def add(self) -> int:
        """Index the next events and move the mark, in one transaction. Gives how many; 0 when none is left. Other
        threads run between any two events."""
        rows = self._log.execute(
            "SELECT seq_no, body, hash FROM events WHERE seq_no > ? ORDER BY seq_no LIMIT ?", (self.seq_no, CHUNK)
        ).fetchall()
        if not rows:
            return 0
        found = ((seq_no, _words(body)) for seq_no, body, _ in rows)
        self._write("INSERT INTO words(rowid, text) VALUES(?,?)", found, rows[-1][0], rows[-1][2])
        return len(rows)

    def _write(
        self, sql: str, rows: Iterable[Any], seq_no: int, row_hash: bytes | None, first: int | None = None
    ) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(sql, rows)
            self._db.execute("UPDATE mark SET seq_no=?, hash=?, first=coalesce(?, first)", (seq_no, row_hash, first))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self._path}: cannot be written ({error})") from None
        self.seq_no = seq_no

    def close(self) -> None:
        self._db.close()
        self._log.close()


def _make(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    for statement in TABLES:
        db.execute(statement)
    db.execute("COMMIT")


def remove(path: Path) -> None:
    """Forget an index."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(name).unlink()


def _words(body: bytes) -> str:
    """The words of a row; none where it is damaged."""
    try:
        return searched(read_event(body))
    except (ValueError, msgspec.MsgspecError):
        return ""
