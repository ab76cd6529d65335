"""The hub's own record: commands to machines with their results, and who changed what at the hub. Each entry is
chained to the one before."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
from msgspec import Struct

from quarterdeck.hub.store.stored_events import next_place
from quarterdeck.store.hash_chain import GENESIS, link
from quarterdeck.wire import write_json


class HubRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry: who did what, on which machine, with which result. `surface` is what the person used."""

    kind: str
    at: float
    who: str
    about: str
    surface: str | None = None
    runner_id: str = ""
    session_id: str = ""
    what: dict[str, Any] = {}


class StoredRecord(Struct, frozen=True):
    """An entry with its place and its hash in the chain."""

    place: int
    record: HubRecord
    hash: bytes


class StoredCommand(Struct, frozen=True, kw_only=True):
    """A command to a machine. `status` is the status code of its result; None as long as none is known."""

    command_id: str
    machine: int
    name: str
    by: str
    target: str
    at: float
    expires_at: float
    status: int | None = None
    body: bytes | None = None
    ended_at: float | None = None


def add_record(db: sqlite3.Connection, record: HubRecord) -> StoredRecord:
    """Append an entry."""
    row = db.execute("SELECT hash FROM records ORDER BY seq_no DESC LIMIT 1").fetchone()
    body = write_json(record)
    digest = link(bytes(row[0]) if row else GENESIS, body, b"")
    place = next_place(db)
    db.execute(
        "INSERT INTO records VALUES(?,?,?,?,?,?)", (place, record.kind, record.at, record.who, body.decode(), digest)
    )
    return StoredRecord(place, record, digest)


def is_chain_sound(db: sqlite3.Connection) -> bool:
    """True when no entry was changed or taken out."""
    previous = GENESIS
    for body, digest in db.execute("SELECT CAST(body AS BLOB), hash FROM records ORDER BY seq_no"):
        previous = link(previous, body, b"")
        if previous != digest:
            return False
    return True


class RecordQuery(Struct, frozen=True, kw_only=True):
    """Filters for entries, oldest first; with `before` and no `after` the latest ones before it."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    kinds: tuple[str, ...] = ()
    who: str | None = None
    since: float | None = None
    until: float | None = None
    runner_id: str | None = None


def list_records(db: sqlite3.Connection, query: RecordQuery) -> list[StoredRecord]:
    """The entries that pass the filters."""
    filters = {
        "seq_no > ?": query.after,
        "seq_no < ?": query.before,
        "who = ?": query.who,
        "at >= ?": query.since,
        "at <= ?": query.until,
        "json_extract(body,'$.runner_id') = ?": query.runner_id,
    }
    named = {clause: value for clause, value in filters.items() if value is not None}
    clauses = ["1", *named, *([f"kind IN ({','.join('?' * len(query.kinds))})"] if query.kinds else ())]
    backwards = query.before is not None and query.after is None
    rows = db.execute(
        f"SELECT seq_no, body, hash FROM records WHERE {' AND '.join(clauses)}"  # noqa: S608
        f" ORDER BY seq_no {'DESC' if backwards else 'ASC'} LIMIT ?",
        (*named.values(), *query.kinds, query.limit),
    ).fetchall()
    found = [
        StoredRecord(place, msgspec.json.decode(body, type=HubRecord), bytes(digest)) for place, body, digest in rows
    ]
    return found[::-1] if backwards else found


def add_command(db: sqlite3.Connection, command: StoredCommand) -> None:
    """Note a command before it is sent."""
    body = None if command.body is None else command.body.decode()
    values = (command.command_id, command.machine, command.name, command.by, command.target, command.at)
    db.execute(
        "INSERT INTO commands VALUES(?,?,?,?,?,?,?,?,?,?)",
        (*values, command.expires_at, command.status, body, command.ended_at),
    )


def finish_command(
    db: sqlite3.Connection, command_id: str, machine: int, status: int, body: bytes, at: float
) -> StoredCommand | None:
    """Store the result of a command; None when it has one already, or was never sent to this machine."""
    changed = db.execute(
        "UPDATE commands SET status=?, body=?, ended_at=? WHERE command_id=? AND machine=? AND status IS NULL",
        (status, body.decode(), at, command_id, machine),
    )
    return command_named(db, command_id) if changed.rowcount else None


def command_named(db: sqlite3.Connection, command_id: str) -> StoredCommand | None:
    """The command with this id."""
    columns = ", ".join(StoredCommand.__struct_fields__).replace("body", "CAST(body AS BLOB)")
    row = db.execute(f"SELECT {columns} FROM commands WHERE command_id=?", (command_id,)).fetchone()  # noqa: S608
    if row is None:
        return None
    texts: list[Any] = [
        value.decode() if isinstance(value, bytes) and name != "body" else value
        for name, value in zip(StoredCommand.__struct_fields__, row, strict=True)
    ]
    return StoredCommand(**dict(zip(StoredCommand.__struct_fields__, texts, strict=True)))
