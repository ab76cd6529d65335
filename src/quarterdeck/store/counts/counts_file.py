"""The file of the counts: its tables, its mark, and what happens to one that does not fit the log."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.store.sqlite import read_only, transaction

LAYOUT = 1
"""A new number sets old counts aside: raise it when the tables change, or what is counted under one name."""

TABLES = (
    "CREATE TABLE projects(project_id TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE label_sets(set_id INTEGER PRIMARY KEY, metric TEXT NOT NULL, project_id TEXT NOT NULL,"
    " labels TEXT NOT NULL, UNIQUE(metric, project_id, labels))",
    "CREATE TABLE hours(set_id INTEGER, bucket INTEGER, amount INTEGER NOT NULL,"
    " PRIMARY KEY(set_id, bucket)) WITHOUT ROWID",
    "CREATE TABLE days(set_id INTEGER, bucket INTEGER, amount INTEGER NOT NULL,"
    " PRIMARY KEY(set_id, bucket)) WITHOUT ROWID",
    "CREATE TABLE sessions(session_id TEXT PRIMARY KEY, cwd TEXT NOT NULL, agent TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE requests(request_id TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE messages(session_id TEXT, message_id TEXT, body BLOB NOT NULL,"
    " PRIMARY KEY(session_id, message_id)) WITHOUT ROWID",
    "CREATE TABLE mark(seq_no INTEGER NOT NULL, hash BLOB, first INTEGER NOT NULL)",
    "INSERT INTO mark VALUES(0, NULL, 1)",
    f"PRAGMA user_version={LAYOUT}",
)
"""`labels` is a JSON list in the order of the metric's groups, without the project. `hours` and `days` have the same
amounts twice, so that a year by the day reads few rows. `sessions`, `requests` and `messages` are what counting
remembers. `mark` is the last event that was counted with its hash, which shows the counts of another log, and the
first."""


def counts_path(log: Path) -> Path:
    """The path of the counts of this log."""
    return log.with_name("counts.db")


def open_counts(log: Path) -> sqlite3.Connection:
    """Open the counts of a log, or begin them. A file that is damaged or of another log is kept under another name,
    because trimmed events cannot be counted again. Raises sqlite3.OperationalError while it cannot be opened."""
    path = counts_path(log)
    try:
        return _open(path, log)
    except sqlite3.OperationalError:  # locked, or a full disk: nothing is wrong with the counts
        raise
    except sqlite3.DatabaseError:
        set_aside(path)
        return _open(path, log)


def _open(path: Path, log: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        with transaction(db):
            if not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                for statement in TABLES:
                    db.execute(statement)
        if db.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
            raise sqlite3.DatabaseError("has another layout")
        if not _is_of(log, *db.execute("SELECT seq_no, hash FROM mark").fetchone()):
            raise sqlite3.DatabaseError("belongs to another log")
    except sqlite3.Error:
        db.close()
        raise
    path.chmod(0o600)
    return db


def _is_of(log: Path, seq_no: int, row_hash: bytes | None) -> bool:
    """True if the counted event is in this log, or was."""
    with contextlib.closing(read_only(log)) as db:
        if seq_no <= anchor_of(db).seq_no:
            return True
        row = db.execute("SELECT hash FROM events WHERE seq_no=?", (seq_no,)).fetchone()
        return row is not None and row[0] == row_hash


def set_aside(path: Path) -> None:
    """Keep the file under another name, in place of the last one that was."""
    for end in ("", "-wal", "-shm"):
        file = path.with_name(path.name + end)
        aside = path.with_name(f"counts.unfit.db{end}")
        aside.unlink(missing_ok=True)
        if file.exists():
            file.rename(aside)


def settled_upto(log: Path) -> int:
    """The last event whose counts survive a power cut; 0 when there are no counts. Raises sqlite3.Error."""
    path = counts_path(log)
    if not path.is_file():
        return 0
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=5.0)) as db:
        seq_no = int(db.execute("SELECT seq_no FROM mark").fetchone()[0])
        db.execute("PRAGMA wal_checkpoint(FULL)")  # writes the file through to the disk
        return seq_no
