"""The log as it is on disk, for export: row by row, with or without a daemon, damaged or not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import Damage, anchor_of, known_end, last_link, unrecorded_trim, verify
from quarterdeck.store.schema import APPLICATION_ID
from quarterdeck.store.sqlite import read_only

# A new query for each: one long read would keep the writer from folding its write-ahead log.
STRIDE = 1_000


class StoredRow(Struct, frozen=True):
    """A row as it is; `body` is None when it cannot be read."""

    seq_no: int
    body: bytes | None
    hash: bytes


class Archive:
    """A read-only view of events.db, which may be in use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.is_file():
            raise StoreError(f"{path}: there is no log; start one with: qd up")
        self._db = read_only(path)
        try:
            is_log = self._db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be opened ({error})") from None
        if not is_log:
            raise StoreError(f"{path}: is not a Quarterdeck log")

    def end(self) -> int:
        """The last number there is, as far as it can be read."""
        for read_end in (self._last, lambda: known_end(self._db)):
            with suppress(sqlite3.DatabaseError):
                return read_end()
        raise StoreError(f"{self._path}: is too damaged to be read")

    def _last(self) -> int:
        row = self._db.execute("SELECT max(seq_no) FROM events").fetchone()
        return int(row[0] or anchor_of(self._db).seq_no)

    def rows(self, *, after: int = 0, session: str = "") -> Iterator[StoredRow]:
        """Every row after this number, of sessions whose id begins with `session`. Holds no lock and little memory."""
        end, place = self.end(), after
        begins = session.encode()
        while place < end:
            rows = self._stride(place, end)
            for seq_no, session_id, body, row_hash in rows:
                if session_id is None or session_id.startswith(begins):
                    yield StoredRow(seq_no, body, row_hash or b"")
            place = rows[-1][0] if rows else place + STRIDE

    def _stride(self, place: int, end: int) -> list[tuple[int, bytes | None, bytes | None, bytes | None]]:
        columns = "seq_no, CAST(session_id AS BLOB), CAST(body AS BLOB), CAST(hash AS BLOB)"
        sql = f"SELECT {columns} FROM events WHERE seq_no > ? ORDER BY seq_no LIMIT ?"  # noqa: S608
        try:
            return self._db.execute(sql, (place, STRIDE)).fetchall()
        # One damaged page fails the whole query, so each row is tried by itself.
        except sqlite3.DatabaseError:
            return [row for n in range(place, min(end, place + STRIDE)) for row in self._one(sql, n)]

    def _one(self, sql: str, before: int) -> list[tuple[int, bytes | None, bytes | None, bytes | None]]:
        try:
            found = self._db.execute(sql, (before, 1)).fetchall()
        except sqlite3.DatabaseError:
            return [(before + 1, None, None, None)]
        return [row for row in found if row[0] == before + 1]

    def verify(self) -> Damage | None:
        """The first row that breaks the chain."""
        try:
            return unrecorded_trim(self._db) or verify(self._db)
        except sqlite3.DatabaseError as error:
            return self._unreadable() or Damage(0, str(error))

    def _unreadable(self) -> Damage | None:
        found = (row for row in self.rows() if row.body is None)
        return next((Damage(row.seq_no, "the row cannot be read") for row in found), None)

    def head(self) -> tuple[int, str]:
        """How many rows there are, and the hash of the last one: kept elsewhere, it proves the log later."""
        seq_no, row_hash = last_link(self._db)
        return seq_no - anchor_of(self._db).seq_no, row_hash.hex()

    def close(self) -> None:
        self._db.close()
