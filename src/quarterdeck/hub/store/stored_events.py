"""The events of machines in the store: each stored once, in order, and an event of another content never in silence."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from quarterdeck.errors import Refused
from quarterdeck.link.messages import LinkEvent
from quarterdeck.wire import read_columns

INDEX_CHUNK = 2_000


class EventConflict(Struct, frozen=True):
    """An event that came with another content than the one stored under its number."""

    number: int
    hash: str


class StoreResult(Struct, frozen=True):
    """What storing some events did: the end of the contiguous part, the new events with their places, and the
    conflicts that were not known before."""

    last_number: int
    new: list[tuple[int, bytes]]
    conflicts: list[EventConflict]


class IncompleteEvents(Refused):
    """Events that do not follow those that are stored: the runner sends again from what was acknowledged."""


class FencedConnection(Refused):
    """A connection that a later registration has replaced."""


def next_place(db: sqlite3.Connection) -> int:
    """The next place in the order of arrival."""
    query = "SELECT max(coalesce((SELECT max(seq_no) FROM events), 0), coalesce((SELECT max(seq_no) FROM records), 0))"
    return int(db.execute(query).fetchone()[0]) + 1


def store_events(
    db: sqlite3.Connection, machine: int, epoch: int, events: Sequence[LinkEvent], at: float
) -> StoreResult:
    """Store what is new. A known event adds nothing; another content under a known number is kept as a conflict."""
    current, last = db.execute("SELECT epoch, last_number FROM machines WHERE machine = ?", (machine,)).fetchone()
    if epoch != current:
        raise FencedConnection(f"epoch {epoch} was replaced by {current}")
    place = next_place(db)
    rows, numbers, new = [], [], []
    conflicts: list[EventConflict] = []
    last_hash: bytes | None = None
    for event in events:
        body = bytes(event.event)
        if event.seq_no <= last:
            conflicts += _conflict(db, machine, event, body, at)
            continue
        if event.begins > last + 1:
            raise IncompleteEvents(f"event {event.begins} does not follow {last}")
        columns = read_columns(body)
        last, last_hash = event.seq_no, bytes.fromhex(event.hash)
        rows.append(
            (place, columns.session_id, columns.kind, columns.at, body.decode(), None, last_hash, event.withheld)
        )
        numbers.append((machine, event.seq_no, event.begins, place))
        new.append((place, body))
        place += 1
    if rows:
        db.executemany("INSERT INTO events VALUES(?,?,?,?,?,?,?,?)", rows)
        db.executemany("INSERT INTO by_machine VALUES(?,?,?,?)", numbers)
        db.execute(
            "UPDATE machines SET last_number=?, last_hash=?, seen_at=? WHERE machine=?", (last, last_hash, at, machine)
        )
    return StoreResult(last, new, conflicts)


def _conflict(db: sqlite3.Connection, machine: int, event: LinkEvent, body: bytes, at: float) -> list[EventConflict]:
    """The conflict of an event whose number is stored already, if it is another event. Numbers that a gap stands for
    have no content that could differ."""
    row = db.execute(
        "SELECT number, first, hash FROM by_machine JOIN events USING(seq_no)"
        " WHERE machine = ? AND number >= ? ORDER BY number LIMIT 1",
        (machine, event.seq_no),
    ).fetchone()
    if row is None or row[0] != event.seq_no or row[2] == bytes.fromhex(event.hash):
        return []
    inserted = db.execute(
        "INSERT OR IGNORE INTO conflicts VALUES(?,?,?,?,?)",
        (machine, event.seq_no, bytes.fromhex(event.hash), at, body.decode()),
    )
    return [EventConflict(event.seq_no, event.hash)] if inserted.rowcount else []


def index_sessions(db: sqlite3.Connection) -> int:
    """Index the next events by session, behind the writer. Returns how many are left."""
    indexed = int(db.execute("SELECT seq_no FROM indexed").fetchone()[0])
    head = int(db.execute("SELECT coalesce(max(seq_no), 0) FROM events").fetchone()[0])
    upto = min(head, indexed + INDEX_CHUNK)
    if upto > indexed:
        new = "SELECT session_id, seq_no FROM events WHERE seq_no > ? AND seq_no <= ? ORDER BY 1, 2"
        db.execute(f"INSERT OR IGNORE INTO by_session {new}", (indexed, upto))
        db.execute("UPDATE indexed SET seq_no=?", (upto,))
    return head - upto
