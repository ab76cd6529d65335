"""The tables of events.db, and the migrations from older files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from quarterdeck.core.model.events import AUDIT_KINDS
from quarterdeck.errors import StoreError
from quarterdeck.store.sqlite import transaction

APPLICATION_ID = 0x51444B31
VERSION = 2
IS_AUDITED = "kind IN ('" + "','".join(AUDIT_KINDS) + "')"

TABLES = """
CREATE TABLE events(
  seq_no INTEGER PRIMARY KEY, session_id TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL,
  body TEXT NOT NULL, raw BLOB, hash BLOB NOT NULL);
CREATE TABLE by_session(
  session_id TEXT NOT NULL, seq_no INTEGER NOT NULL, PRIMARY KEY(session_id, seq_no)) WITHOUT ROWID;
CREATE TABLE indexed(seq_no INTEGER NOT NULL);
INSERT INTO indexed VALUES(0);
CREATE TABLE requests(
  request_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, status TEXT NOT NULL, seq_no INTEGER NOT NULL,
  body TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX requests_by_status ON requests(status, seq_no);
CREATE TABLE sessions(
  session_id TEXT NOT NULL, seq_no INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY(session_id, seq_no)) WITHOUT ROWID;
CREATE TABLE envelopes(request_id TEXT PRIMARY KEY, digest BLOB NOT NULL, seq_no INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX envelopes_by_seq_no ON envelopes(seq_no);
CREATE TABLE trims(seq_no INTEGER PRIMARY KEY, hash BLOB NOT NULL, at REAL NOT NULL, why TEXT NOT NULL);
CREATE TABLE cursors(name TEXT PRIMARY KEY, seq_no INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshots(seq_no INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
"""`hash` chains every row to the one before; `raw` is the payload of an event, on the first event made from it and
without the values that the event has (`wire.compact_payload`).

`by_session` is filled behind the writer, up to `indexed`: an index on `events` would touch a page per session in every
commit and cost more than the row itself.

`trims` holds at most one row, which says where the log begins: the number and the hash of the last trimmed event.
`cursors` is how far each hub has acknowledged the log; nothing beyond the least of them is trimmed.
"""

MIGRATIONS: Mapping[int, str] = {
    1: """
CREATE INDEX envelopes_by_seq_no ON envelopes(seq_no);
CREATE TABLE trims(seq_no INTEGER PRIMARY KEY, hash BLOB NOT NULL, at REAL NOT NULL, why TEXT NOT NULL);
CREATE TABLE cursors(name TEXT PRIMARY KEY, seq_no INTEGER NOT NULL) WITHOUT ROWID;
"""
}
"""From each older version to the next: one script, run in one transaction after a backup."""


def prepare(
    db: sqlite3.Connection, path: Path, *, migrations: Mapping[int, str] = MIGRATIONS, to: int = VERSION
) -> None:
    """Create the tables in a new file, migrate an older one, refuse a foreign or a newer one."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    if version == 0 and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        _run(db, TABLES, to)
        return
    if application != APPLICATION_ID:
        raise StoreError(f"{path}: is not a Quarterdeck log; move it away or choose another QUARTERDECK_HOME")
    if version > to:
        raise StoreError(
            f"{path}: was written by a newer Quarterdeck (schema {version}, this one has {to}); upgrade Quarterdeck"
        )
    for old in range(version, to):
        _backup(db, path, old)
        _run(db, migrations[old], old + 1)


def ensure_audit_index(db: sqlite3.Connection) -> None:
    """Make the index of the few rows that the audit shows, again when the set of their kinds has changed."""
    statement = f"CREATE INDEX audited ON events(seq_no) WHERE {IS_AUDITED}"
    found = db.execute("SELECT sql FROM sqlite_master WHERE type='index' AND name='audited'").fetchone()
    if found is None or found[0] != statement:
        with transaction(db):
            db.execute("DROP INDEX IF EXISTS audited")
            db.execute(statement)


def _run(db: sqlite3.Connection, script: str, version: int) -> None:
    """Run a script in one transaction; `executescript` would commit in between."""
    with transaction(db):
        for statement in filter(str.strip, script.split(";\n")):
            db.execute(statement)
        db.execute(f"PRAGMA user_version={version}")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")


def _backup(db: sqlite3.Connection, path: Path, version: int) -> None:
    target = sqlite3.connect(path.with_suffix(f".v{version}.db"))
    with target:
        db.backup(target)
    target.close()
