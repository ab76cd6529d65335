"""The tables of hub.db: the events of all machines in the order of their arrival, and what is known of each machine."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from quarterdeck.errors import StoreError
from quarterdeck.store.schema import ensure_audit_index
from quarterdeck.store.sqlite import transaction

APPLICATION_ID = 0x51444832
VERSION = 2

RULES = "CREATE TABLE rules(rule_id TEXT PRIMARY KEY, place INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID"
TABLES = f"""
CREATE TABLE machines(
  machine INTEGER PRIMARY KEY, runner_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, version TEXT NOT NULL,
  epoch INTEGER NOT NULL, last_number INTEGER NOT NULL, last_hash BLOB NOT NULL, seen_at REAL NOT NULL);
CREATE TABLE enrolments(
  enrolment_id TEXT PRIMARY KEY, name TEXT NOT NULL, verifier TEXT NOT NULL UNIQUE, created_at REAL NOT NULL,
  created_by TEXT NOT NULL, expelled_at REAL, machine INTEGER) WITHOUT ROWID;
CREATE TABLE events(
  seq_no INTEGER PRIMARY KEY, session_id TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL,
  body TEXT NOT NULL, raw BLOB, hash BLOB NOT NULL, withheld TEXT);
CREATE TABLE by_machine(
  machine INTEGER NOT NULL, number INTEGER NOT NULL, first INTEGER NOT NULL, seq_no INTEGER NOT NULL,
  PRIMARY KEY(machine, number)) WITHOUT ROWID;
CREATE UNIQUE INDEX by_machine_place ON by_machine(machine, seq_no);
CREATE TABLE by_session(
  session_id TEXT NOT NULL, seq_no INTEGER NOT NULL, PRIMARY KEY(session_id, seq_no)) WITHOUT ROWID;
CREATE TABLE indexed(seq_no INTEGER NOT NULL);
INSERT INTO indexed VALUES(0);
CREATE TABLE conflicts(
  machine INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY(machine, number, hash)) WITHOUT ROWID;
CREATE TABLE sessions(
  place INTEGER PRIMARY KEY, machine INTEGER NOT NULL, session_id TEXT NOT NULL, grp INTEGER NOT NULL,
  started INTEGER NOT NULL, project_id TEXT, agent_state TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL);
CREATE UNIQUE INDEX sessions_by_id ON sessions(session_id, machine);
CREATE INDEX sessions_in_order ON sessions(grp, started DESC, session_id, machine);
CREATE TABLE requests(
  place INTEGER PRIMARY KEY, machine INTEGER NOT NULL, request_id TEXT NOT NULL, status TEXT NOT NULL,
  at REAL NOT NULL, body TEXT NOT NULL);
CREATE UNIQUE INDEX requests_by_id ON requests(request_id, machine);
CREATE INDEX requests_by_status ON requests(status, place);
CREATE TABLE commands(
  command_id TEXT PRIMARY KEY, machine INTEGER NOT NULL, name TEXT NOT NULL, by TEXT NOT NULL, target TEXT NOT NULL,
  at REAL NOT NULL, expires_at REAL NOT NULL, status INTEGER, body TEXT, ended_at REAL) WITHOUT ROWID;
CREATE TABLE records(
  seq_no INTEGER PRIMARY KEY, kind TEXT NOT NULL, at REAL NOT NULL, who TEXT NOT NULL, body TEXT NOT NULL,
  hash BLOB NOT NULL);
CREATE TABLE tokens(token_id TEXT PRIMARY KEY, place INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
{RULES};
"""
"""`events` has the shape of a daemon's log, so that the same queries read it. `seq_no` is the place in the order of
arrival; the number in the machine's own log is `number` in `by_machine`, and in the body. `hash` is that of the event
as the machine has it, whatever was left out of the body. A gap has one row, which stands for `first` to `number`.

`records` are the hub's own entries of the audit, each chained to the one before. Their places are of the same count as
those of events.

`sessions` and `requests` hold what machines last sent, and when (`at`)."""


def open_hub_store(path: Path, durability: str = "full") -> sqlite3.Connection:
    """Open or create the file; refuse a foreign or a newer one."""
    try:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        path.chmod(0o600)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
        db.execute("PRAGMA busy_timeout=2000")
        _prepare(db, path)
        ensure_audit_index(db)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path}: cannot be opened ({error}); check the disk, or restore a backup") from None
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        with transaction(db):
            for statement in filter(str.strip, TABLES.split(";\n")):
                db.execute(statement)
            db.execute(f"PRAGMA user_version={VERSION}")
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        return
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path}: is not the store of a hub; move it away or choose another QUARTERDECK_HOME")
    if version > VERSION:
        raise StoreError(
            f"{path}: was written by a newer Quarterdeck (schema {version}, this one has {VERSION}); upgrade it"
        )
    if version == 1:
        with transaction(db):
            db.execute(RULES)
            db.execute(f"PRAGMA user_version={VERSION}")
