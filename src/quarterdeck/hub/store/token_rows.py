"""The tokens and signed-in devices of the hub in its store."""

from __future__ import annotations

import sqlite3

import msgspec

from quarterdeck.core.model.state import Token
from quarterdeck.wire import write_json


def put_token(db: sqlite3.Connection, token: Token) -> None:
    """Store a token, or its change."""
    place = db.execute("SELECT coalesce(max(place), 0) + 1 FROM tokens").fetchone()[0]
    db.execute(
        "INSERT INTO tokens VALUES(?,?,?) ON CONFLICT(token_id) DO UPDATE SET body=excluded.body",
        (token.token_id, place, write_json(token).decode()),
    )


def delete_token(db: sqlite3.Connection, token_id: str) -> None:
    """Forget a token."""
    db.execute("DELETE FROM tokens WHERE token_id=?", (token_id,))


def read_tokens(db: sqlite3.Connection) -> list[Token]:
    """Every token, oldest first."""
    rows = db.execute("SELECT body FROM tokens ORDER BY place")
    return [msgspec.json.decode(body, type=Token) for (body,) in rows]


def kept_value(db: sqlite3.Connection, key: str, default: str) -> str:
    """A value that is made once and kept."""
    db.execute("INSERT OR IGNORE INTO meta VALUES(?,?)", (key, default))
    return str(db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()[0])
