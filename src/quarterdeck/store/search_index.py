"""The index of words, fields and times, in a file of its own beside the log: made from the log, and made again whenever
it is lost."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.search_terms import searchable_text
from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.store.queries.field_keys import keys_of
from quarterdeck.store.sqlite import read_only, transaction
from quarterdeck.wire import read_event

LAYOUT = 2
"""A new number discards old indexes: raise it when `core/text/search_terms.py` finds other words in an event, or
`field_keys.py` other keys."""

BLOCK = 512
"""The number of neighbouring events whose first and last time are kept together."""

# Larger transactions merge more of the index at once; the thread then holds the processor longer.
CHUNK = 250

TABLES = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='ascii', prefix='2 3 4')",
    "CREATE TABLE fields(key INTEGER NOT NULL, seq_no INTEGER NOT NULL, PRIMARY KEY(key, seq_no)) WITHOUT ROWID",
    "CREATE TABLE blocks(block INTEGER PRIMARY KEY, low REAL NOT NULL, high REAL NOT NULL)",
    "CREATE TABLE mark(seq_no INTEGER NOT NULL, hash BLOB, first INTEGER NOT NULL)",
    "INSERT INTO mark VALUES(0, NULL, 1)",
    f"PRAGMA user_version={LAYOUT}",
)
"""`text` has lower-case words with one blank between them, so that the ascii tokenizer splits it as the core does.
`fields` has the keys of each event. `blocks` has the earliest and the latest time among BLOCK neighbours, because times
go back where the clock was set. `mark` is the last indexed event with its hash, which shows an index of another log,
and the first."""

WIDEN_BLOCK = (
    "INSERT INTO blocks VALUES(?,?,?) ON CONFLICT(block) DO UPDATE"
    " SET low = min(low, excluded.low), high = max(high, excluded.high)"
)


def search_path(log: Path) -> Path:
    """The path of the index of this log."""
    return log.with_name("search.db" if log.stem == "events" else f"{log.stem}-search.db")


def indexed_upto(log: Path) -> int:
    """The last event in the index of this log; 0 when there is none or it cannot be read."""
    path = search_path(log)
    if not path.is_file():
        return 0
    try:
        with contextlib.closing(read_only(path)) as db:
            return int(db.execute("SELECT seq_no FROM mark").fetchone()[0])
    except (sqlite3.Error, TypeError, ValueError):
        return 0


class SearchIndex:
    """The only writer of search.db, used by one thread at a time. Reads the log on a connection of its own."""

    def __init__(self, log: Path) -> None:
        self._path = search_path(log)
        self._log = read_only(log)
        try:
            self._db, self.seq_no = self._open()
        except sqlite3.Error:
            remove_index(self._path)
            self._db, self.seq_no = self._open()

    def _open(self) -> tuple[sqlite3.Connection, int]:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA wal_autocheckpoint=4000")
            if not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                with transaction(db):
                    for statement in TABLES:
                        db.execute(statement)
            if db.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
                raise sqlite3.DatabaseError("has another layout")
            seq_no, row_hash = db.execute("SELECT seq_no, hash FROM mark").fetchone()
            if not self._is_of_this_log(seq_no, row_hash):
                raise sqlite3.DatabaseError("belongs to another log")
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

    def tidy(self) -> bool:
        """Begin again at the start of the log once most of the indexed events were trimmed. True when that was done."""
        trimmed = anchor_of(self._log).seq_no
        first = self._db.execute("SELECT first FROM mark").fetchone()[0]
        if trimmed - first < max(CHUNK, self.seq_no - trimmed):
            return False
        with self._writing(trimmed, None, first=trimmed + 1):
            self._db.execute("INSERT INTO words(words) VALUES('delete-all')")
            self._db.execute("DELETE FROM fields")
            self._db.execute("DELETE FROM blocks")
        return True

    def add(self) -> int:
        """Index the next events and move the mark, in one transaction. Returns how many; 0 when none is left. Other
        threads run between any two events."""
        rows = self._log.execute(
            "SELECT seq_no, body, at, hash FROM events WHERE seq_no > ? ORDER BY seq_no LIMIT ?", (self.seq_no, CHUNK)
        ).fetchall()
        if not rows:
            return 0
        fields: list[tuple[int, int]] = []
        with self._writing(rows[-1][0], rows[-1][3]):
            words = ((seq_no, _row_words(body, seq_no, fields)) for seq_no, body, _, _ in rows)
            self._db.executemany("INSERT INTO words(rowid, text) VALUES(?,?)", words)
            self._db.executemany("INSERT OR IGNORE INTO fields VALUES(?,?)", fields)
            self._db.executemany(WIDEN_BLOCK, ((seq_no // BLOCK, at, at) for seq_no, _, at, _ in rows))
        return len(rows)

    @contextlib.contextmanager
    def _writing(self, seq_no: int, row_hash: bytes | None, first: int | None = None) -> Iterator[None]:
        """Move the mark in the same transaction as the rows."""
        mark = "UPDATE mark SET seq_no=?, hash=?, first=coalesce(?, first)"
        try:
            with transaction(self._db):
                yield
                self._db.execute(mark, (seq_no, row_hash, first))
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be written ({error})") from None
        self.seq_no = seq_no

    def close(self) -> None:
        self._db.close()
        self._log.close()


def remove_index(path: Path) -> None:
    """Delete an index."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(name).unlink()


def _row_words(body: bytes, seq_no: int, fields: list[tuple[int, int]]) -> str:
    """The words of a row, and its keys into `fields`; none where it is damaged."""
    try:
        event: FeedEvent = read_event(body)
    except (ValueError, msgspec.MsgspecError):
        return ""
    fields += ((key, seq_no) for key in keys_of(event))
    return searchable_text(event)
