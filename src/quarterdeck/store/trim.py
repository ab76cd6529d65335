"""Trims the oldest events with all rows that belong to them; their last hash stays as the anchor of the chain."""

from __future__ import annotations

import sqlite3


def first_to_keep(db: sqlite3.Connection, unsent_from: int = 0) -> int:
    """The first event that must stay: after the snapshot, not acknowledged by a hub, or of a pending request. What no
    hub has is kept only from `unsent_from` on."""
    row = db.execute(
        "SELECT coalesce((SELECT max(seq_no) FROM snapshots), 0) + 1,"
        " max((SELECT min(seq_no) FROM cursors) + 1, ?),"
        " (SELECT min(seq_no) FROM requests WHERE status = 'pending')",
        (unsent_from,),
    ).fetchone()
    return int(min(place for place in row if place is not None))


def delete_upto(db: sqlite3.Connection, last: int, at: float, why: str) -> None:
    """Delete every event up to `last` and the rows that belong to them, in the caller's transaction."""
    db.execute("INSERT INTO trims SELECT seq_no, hash, ?, ? FROM events WHERE seq_no = ?", (at, why, last))
    db.execute("DELETE FROM trims WHERE seq_no < ?", (last,))
    db.execute(
        "DELETE FROM by_session WHERE (session_id, seq_no) IN"
        " (SELECT session_id, seq_no FROM events WHERE seq_no <= ?)",
        (last,),
    )
    db.execute("DELETE FROM envelopes WHERE seq_no <= ?", (last,))
    db.execute(
        "DELETE FROM requests WHERE status IN ('decided', 'withdrawn', 'expired') AND seq_no <= ?",
        (last,),
    )
    db.execute("DELETE FROM events WHERE seq_no <= ?", (last,))
    db.execute("UPDATE indexed SET seq_no = max(seq_no, ?)", (last,))
