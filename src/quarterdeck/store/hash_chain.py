"""The hash chain: every row of the log is bound to the one before, also across trimmed rows."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable

import msgspec
from msgspec import Struct

from quarterdeck.wire import read_columns, read_trim

GENESIS = bytes(32)
# Beyond this, copying body and payload into one text costs more than two more calls.
LARGE = 64 * 1024
# Between two strides the caller may pause, and a trim may move the anchor.
STRIDE = 2_000
COLUMNS = (
    "seq_no, CAST(session_id AS BLOB), CAST(kind AS BLOB), at,"
    " CAST(body AS BLOB), CAST(raw AS BLOB), CAST(hash AS BLOB)"
)
"""A row as it was hashed. As blobs, because a damaged text could not even be read."""


class Damage(Struct, frozen=True):
    """The first row that does not fit the chain; number 0 when the file itself is broken."""

    seq_no: int
    reason: str

    def __str__(self) -> str:
        return f"row {self.seq_no}: {self.reason}" if self.seq_no else self.reason


class Anchor(Struct, frozen=True):
    """Where the chain begins: the last trimmed row, or nothing."""

    seq_no: int = 0
    hash: bytes = GENESIS


def link(previous: bytes, body: bytes, raw: bytes) -> bytes:
    """The hash of a row."""
    if len(body) < LARGE:
        return hashlib.sha256(b"%b%d:%b%b" % (previous, len(body), body, raw)).digest()
    digest = hashlib.sha256(b"%b%d:" % (previous, len(body)))
    digest.update(body)
    digest.update(raw)
    return digest.digest()


def anchor_of(db: sqlite3.Connection) -> Anchor:
    """The anchor before the first row. A log of schema 1 was never trimmed."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name='trims'").fetchone():
        return Anchor()
    row = db.execute("SELECT seq_no, CAST(hash AS BLOB) FROM trims ORDER BY seq_no DESC LIMIT 1").fetchone()
    return Anchor(row[0], row[1]) if row else Anchor()


def last_link(db: sqlite3.Connection) -> tuple[int, bytes]:
    """The number and the hash that the next row is bound to."""
    row = db.execute("SELECT seq_no, CAST(hash AS BLOB) FROM events ORDER BY seq_no DESC LIMIT 1").fetchone()
    anchor = anchor_of(db)
    return (row[0], row[1]) if row else (anchor.seq_no, anchor.hash)


def verify(
    db: sqlite3.Connection, *, after: int = 0, progress: Callable[[int], None] = lambda seq_no: None
) -> Damage | None:
    """Walk the chain in strides. Returns the first row that is missing, changed or extra, or None. Rows that are
    trimmed meanwhile are not missing."""
    anchor = anchor_of(db)
    below = db.execute("SELECT seq_no FROM events WHERE seq_no <= ? LIMIT 1", (anchor.seq_no,)).fetchone()
    if below is not None:
        return Damage(below[0], "the row was trimmed and is there again")
    place, head, end = anchor.seq_no, anchor.hash, known_end(db)
    if after > place:
        row = db.execute("SELECT CAST(hash AS BLOB) FROM events WHERE seq_no = ?", (after,)).fetchone()
        if row is None:
            return Damage(after, "the row is missing")
        place, head = after, row[0]
    query = f"SELECT {COLUMNS} FROM events WHERE seq_no > ? ORDER BY seq_no LIMIT ?"  # noqa: S608
    while rows := db.execute(query, (place, STRIDE)).fetchall():
        for seq_no, session_id, kind, at, body, raw, stored in rows:
            if seq_no != place + 1:
                break
            head = link(head, body, raw or b"")
            if head != stored:
                return Damage(seq_no, "the row does not match its hash")
            if not _columns_match(body, session_id, kind, at):
                return Damage(seq_no, "the row does not match its event")
            place = seq_no
        else:
            progress(place)
            continue
        anchor = anchor_of(db)
        if anchor.seq_no <= place:
            return Damage(place + 1, "the row is missing")
        place, head = anchor.seq_no, anchor.hash
    return Damage(place + 1, "the row is missing") if place < end else None


def unrecorded_trim(db: sqlite3.Connection) -> Damage | None:
    """Rows that were removed from the beginning without a record: a trim is recorded before it happens, in a row that
    stays."""
    trimmed = anchor_of(db).seq_no
    query = "SELECT CAST(body AS BLOB) FROM events WHERE kind = 'log.trim' ORDER BY seq_no DESC"
    if not trimmed or any(read_trim(body) >= trimmed for (body,) in db.execute(query)):
        return None
    return Damage(trimmed, "the row and those before it were taken out, and no event says so")


def _columns_match(body: bytes, session_id: bytes, kind: bytes, at: float) -> bool:
    """True if the columns, which the hash does not cover, agree with the event."""
    try:
        place = read_columns(body)
    except (ValueError, msgspec.MsgspecError):
        return False
    return (place.session_id.encode(), place.kind.encode(), place.at) == (session_id, kind, at)


def known_end(db: sqlite3.Connection) -> int:
    """The last row that another table knows of: rows cut off at the end are noticed by it."""
    marks = "SELECT max(seq_no) FROM (SELECT seq_no FROM indexed UNION ALL SELECT max(seq_no) FROM snapshots)"
    return int(db.execute(marks).fetchone()[0] or 0)
