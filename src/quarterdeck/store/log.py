"""The append-only log: one writer, one transaction per batch, every row chained to the one before."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request, Session, State
from quarterdeck.errors import StoreError
from quarterdeck.store.hash_chain import Damage, anchor_of, link, verify
from quarterdeck.store.schema import keep_audit_index, prepare
from quarterdeck.store.trim import keepable, let_go
from quarterdeck.wire import beside, read_events, read_session, read_state, write_heavy, write_json

RAW_LIMIT = 256 * 1024
"""How much of a payload is kept beside what its first event holds; the events hold all that matters of a larger one."""

CHECKED_AT_START = 1000
INDEX_CHUNK = 2_000
TRIM_CHUNK = 200


class Entry(Struct):
    """What one input adds to the log, all of it or nothing."""

    events: Sequence[FeedEvent]
    payload: dict[str, Any] | None = None
    requests: Collection[Request] = ()
    sessions: Collection[Session] = ()
    envelope: tuple[str, bytes] | None = None
    is_heavy: bool = False


def _bytes(raw: str | bytes | None) -> bytes:
    return raw.encode() if isinstance(raw, str) else raw or b""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _within_limit(raw: str | bytes) -> str | bytes | None:
    return raw if len(raw) <= RAW_LIMIT else None


class Log:
    """The only writer of events.db."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self.damage: Damage | None = None
        self.seq_no, self._head = self._last()
        self._indexed = int(db.execute("SELECT seq_no FROM indexed").fetchone()[0])
        self._trimmed = anchor_of(db).seq_no

    @classmethod
    def open(cls, path: Path, *, durability: str = "full") -> Self:
        """Open or make the file, check its header, schema and last rows."""
        try:
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            path.chmod(0o600)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
            db.execute("PRAGMA busy_timeout=2000")
            prepare(db, path)
            keep_audit_index(db)
            log = cls(db, path)
            log.damage = verify(db, after=max(0, log.seq_no - CHECKED_AT_START))
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path}: cannot be opened ({error}); check the disk, or restore a backup") from None
        return log

    def _last(self) -> tuple[int, bytes]:
        row = self._db.execute("SELECT seq_no, CAST(hash AS BLOB) FROM events ORDER BY seq_no DESC LIMIT 1").fetchone()
        anchor = anchor_of(self._db)
        return (row[0], row[1]) if row else (anchor.seq_no, anchor.hash)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries durably in one transaction. When this returns they survive a power cut."""
        if self.damage is not None:
            raise StoreError(f"{self.path}: is damaged ({self.damage}); nothing is written")
        rows, head = self._rows(entries)
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._write_events(rows)
            for entry in entries:
                if entry.requests or entry.sessions or entry.envelope is not None:
                    self._write_views(entry)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self.path}: cannot be written ({error}); free some space or mend its mode") from None
        if rows:
            self.seq_no, self._head = rows[-1][0], head

    def takes_writing(self) -> bool:
        """Whether something can be written, by writing a number and then as it was: SQLite leaves out what changes
        nothing."""
        if self.damage is not None:
            return False
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for _ in range(2):
                self._db.execute("UPDATE indexed SET seq_no=-seq_no-1")
            self._db.execute("COMMIT")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            return False
        return True

    def _rows(
        self, entries: Sequence[Entry]
    ) -> tuple[list[tuple[int, str, str, float, str, str | bytes | None, bytes]], bytes]:
        rows = []
        head = self._head
        for entry in entries:
            payload = entry.payload
            for event in entry.events:
                raw: str | bytes | None = None
                if payload is not None:
                    raw = _within_limit(beside(payload, event.data))
                    payload = None
                body = write_heavy(event) if entry.is_heavy else write_json(event)
                head = link(head, body, _bytes(raw))
                rows.append((event.seq_no, event.session_id, event.kind, event.at, body.decode(), raw, head))
        return rows, head

    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._db.executemany("INSERT INTO events VALUES(?,?,?,?,?,?,?)", rows)

    def _write_views(self, entry: Entry) -> None:
        write = write_heavy if entry.is_heavy else write_json
        for request in entry.requests:
            self._db.execute(
                "INSERT OR REPLACE INTO requests VALUES(?,?,?,?,?)",
                (request.request_id, request.session_id, request.status, request.seq_no, write(request).decode()),
            )
        if entry.envelope is not None:
            seq_no = entry.events[0].seq_no if entry.events else self.seq_no
            self._db.execute("INSERT OR IGNORE INTO envelopes VALUES(?,?,?)", (*entry.envelope, seq_no))
        for session in entry.sessions:
            at = entry.events[-1].seq_no
            self._db.execute(
                "INSERT OR REPLACE INTO sessions VALUES(?,?,?)", (session.session_id, at, write_json(session).decode())
            )

    @property
    def unindexed(self) -> int:
        """How many events a reader of one session has to walk."""
        return self.seq_no - self._indexed

    def sizes(self) -> tuple[int, int]:
        """Bytes of the file, and of what is not yet folded into it."""
        return _size(self.path), _size(self.path.with_name(self.path.name + "-wal"))

    def index_sessions(self) -> None:
        """Index the next events by session; a failure costs only the next reader's time."""
        upto = min(self.seq_no, self._indexed + INDEX_CHUNK)
        if self.damage is not None or upto == self._indexed:
            return
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute(
                "INSERT OR IGNORE INTO by_session"
                " SELECT session_id, seq_no FROM events WHERE seq_no > ? AND seq_no <= ? ORDER BY 1, 2",
                (self._indexed, upto),
            )
            self._db.execute("UPDATE indexed SET seq_no=?", (upto,))
            self._db.execute("COMMIT")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            return
        self._indexed = upto

    @property
    def trimmed(self) -> int:
        """The last event that has left the log; 0 when none has."""
        return self._trimmed

    def trimmable(self) -> int:
        """The last event that may leave."""
        return keepable(self._db) - 1

    def used_bytes(self) -> int:
        """What the log takes of its file; the rest of the file is written again before the file grows."""
        pages, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def trim(self, upto: int, *, at: float, why: str) -> int:
        """Let the oldest events go, up to `upto` and not beyond what must stay, a few at a time so that nobody waits.
        The chain begins at the last of them from then on. Gives how many went."""
        last = min(upto, self.trimmable(), self._trimmed + TRIM_CHUNK)
        if self.damage is not None or last <= self._trimmed:
            return 0
        try:
            self._db.execute("BEGIN IMMEDIATE")
            let_go(self._db, last, at, why)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self.path}: cannot be trimmed ({error})") from None
        went, self._trimmed = last - self._trimmed, last
        self._indexed = max(self._indexed, last)
        return went

    def envelope(self, request_id: str) -> bytes | None:
        """The digest of the payload a client sent under this id, if it did."""
        row = self._db.execute("SELECT digest FROM envelopes WHERE request_id=?", (request_id,)).fetchone()
        return row[0] if row else None

    def meta(self, key: str, default: str) -> str:
        """A value that is made once and kept."""
        self._db.execute("INSERT OR IGNORE INTO meta VALUES(?,?)", (key, default))
        return str(self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()[0])

    def save_snapshot(self, state: State, *, is_heavy: bool = False) -> None:
        """Keep the state, so that a restart folds only what comes after. Ended sessions have their own table."""
        if self.damage is not None:
            return
        body = (write_heavy if is_heavy else write_json)(replace(state, ended={})).decode()
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT OR REPLACE INTO snapshots VALUES(?,?)", (state.seq_no, body))
            self._db.execute("DELETE FROM snapshots WHERE seq_no < ?", (state.seq_no,))
            self._db.execute(
                "DELETE FROM sessions WHERE seq_no < (SELECT max(s.seq_no) FROM sessions s"
                " WHERE s.session_id = sessions.session_id)"
            )
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self.path}: a snapshot cannot be written ({error})") from None

    def snapshot(self) -> State | None:
        """The last snapshot with the sessions that had ended by then; None when there is none or it is unreadable."""
        row = self._db.execute("SELECT seq_no, body FROM snapshots ORDER BY seq_no DESC LIMIT 1").fetchone()
        if row is None or row[0] > self.seq_no:
            return None
        try:
            state = read_state(row[1])
            ended = (read_session(body) for (body,) in self._ended_by(row[0]))
            return replace(state, ended={s.session_id: s for s in ended if s.session_id not in state.sessions})
        except (ValueError, msgspec.MsgspecError):
            return None

    def _ended_by(self, seq_no: int) -> Iterator[tuple[str]]:
        query = "SELECT body, max(seq_no) FROM sessions WHERE seq_no <= ? GROUP BY session_id ORDER BY 2"
        return ((row[0],) for row in self._db.execute(query, (seq_no,)))

    def events_after(self, seq_no: int, upto: int = 2**63 - 1) -> Iterator[FeedEvent]:
        """Every later event, in order."""
        columns = "CAST(kind AS BLOB), CAST(body AS BLOB)"
        query = f"SELECT {columns} FROM events WHERE seq_no > ? AND seq_no <= ? ORDER BY seq_no"  # noqa: S608
        cursor = self._db.execute(query, (seq_no, upto))
        cursor.arraysize = 2000
        while rows := cursor.fetchmany():
            yield from read_events(rows)

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file; a failure costs only the next start's time."""
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._db.close()
