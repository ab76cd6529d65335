"""The ledger of commands that came from a hub, in a file of its own: each runs at most once, and its result is kept."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from msgspec import Struct

from quarterdeck.errors import StoreError
from quarterdeck.store.sqlite import transaction

KEPT_SECONDS = 7 * 86400.0
TABLES = "CREATE TABLE IF NOT EXISTS commands(id TEXT PRIMARY KEY, at REAL NOT NULL, status INTEGER, body BLOB)"


class LedgerEntry(Struct, frozen=True):
    """A command that began. `status` is None until it has ended: it was interrupted when no process runs it."""

    status: int | None
    body: bytes


class CommandLedger:
    """The commands that began, by their ids. Every write is durable before it returns."""

    def __init__(self, path: Path) -> None:
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            path.chmod(0o600)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute(TABLES)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path}: cannot be opened ({error}); move it away") from None

    def find(self, command_id: str) -> LedgerEntry | None:
        """The entry of a command that began; None for one that did not."""
        row = self._db.execute("SELECT status, body FROM commands WHERE id=?", (command_id,)).fetchone()
        return LedgerEntry(row[0], row[1] or b"") if row else None

    def begin(self, command_id: str, at: float) -> LedgerEntry | None:
        """Record that a command begins. For one that began before, its entry: it must not run again."""
        with transaction(self._db):
            if (entry := self.find(command_id)) is not None:
                return entry
            self._db.execute("DELETE FROM commands WHERE at < ?", (at - KEPT_SECONDS,))
            self._db.execute("INSERT INTO commands VALUES(?,?,NULL,NULL)", (command_id, at))
        return None

    def finish(self, command_id: str, status: int, body: bytes) -> None:
        """Keep the result of a command."""
        with transaction(self._db):
            self._db.execute("UPDATE commands SET status=?, body=? WHERE id=?", (status, body, command_id))

    def close(self) -> None:
        self._db.close()
