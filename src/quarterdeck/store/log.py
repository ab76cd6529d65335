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
from quarterdeck.store.hash_chain import Damage, anchor_of, last_link, link, verify
from quarterdeck.store.schema import ensure_audit_index, prepare
from quarterdeck.store.sqlite import transaction
from quarterdeck.store.trim import delete_upto, first_to_keep
from quarterdeck.store.upgrade import upgraded_event, upgraded_state
from quarterdeck.wire import compact_payload, read_events, read_session, read_state, write_heavy, write_json

RAW_LIMIT = 256 * 1024
"""How much of a payload is kept beside its first event; of a larger one the events have everything that matters."""

# The rows that a crash may have hurt: a check of all rows would delay every start of a long log by seconds.
CHECKED_AT_START = 1000
# A chunk runs on the loop, which may stand still for 50 ms at most.
INDEX_CHUNK = 2_000
# A chunk keeps the writer, and with it every hook call, until all its rows are deleted.
TRIM_CHUNK = 200


EventRow = tuple[int, str, str, float, str, str | bytes | None, bytes]


class Entry(Struct):
    """The rows that one input adds to the log, all of them or none."""

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


class Log:
    """The only writer of events.db."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self.damage: Damage | None = None
        self.seq_no, self._head = last_link(db)
        self._indexed = int(db.execute("SELECT seq_no FROM indexed").fetchone()[0])
        self.trimmed = anchor_of(db).seq_no
        """The last event that was trimmed; 0 when none was."""
        self.unsent_from = 0
        """Events before this one may be trimmed even if a hub does not have them: there is no more room for them."""

    @classmethod
    def open(cls, path: Path, *, durability: str = "full") -> Self:
        """Open or create the file; check its header, its schema and its last rows."""
        try:
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            path.chmod(0o600)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA synchronous={'FULL' if durability == 'full' else 'NORMAL'}")
            db.execute("PRAGMA busy_timeout=2000")
            prepare(db, path)
            ensure_audit_index(db)
            log = cls(db, path)
            log.damage = verify(db, after=max(0, log.seq_no - CHECKED_AT_START))
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{path}: cannot be opened ({error}); check the disk, or restore a backup") from None
        return log

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries in one transaction. When this returns they survive a power cut."""
        if self.damage is not None:
            raise StoreError(
                f"{self.path}: is damaged ({self.damage}); nothing is written; check it with: qd export --verify"
            )
        rows, head = self._rows(entries)
        try:
            with transaction(self._db):
                self._write_events(rows)
                for entry in entries:
                    if entry.requests or entry.sessions or entry.envelope is not None:
                        self._write_views(entry)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be written ({error}); free some space or fix its mode") from None
        if rows:
            self.seq_no, self._head = rows[-1][0], head

    def can_write(self) -> bool:
        """True if the log can be written: a number is changed and changed back, because SQLite leaves out a write that
        changes nothing."""
        if self.damage is not None:
            return False
        try:
            with transaction(self._db):
                for _ in range(2):
                    self._db.execute("UPDATE indexed SET seq_no=-seq_no-1")
        except sqlite3.Error:
            return False
        return True

    def _rows(self, entries: Sequence[Entry]) -> tuple[list[EventRow], bytes]:
        rows = []
        head = self._head
        for entry in entries:
            payload = entry.payload
            for event in entry.events:
                raw: str | bytes | None = None
                if payload is not None:
                    compact = compact_payload(payload, event.data)
                    raw = compact if len(compact) <= RAW_LIMIT else None
                    payload = None
                body = write_heavy(event) if entry.is_heavy else write_json(event)
                head = link(head, body, _bytes(raw))
                rows.append((event.seq_no, event.session_id, event.kind, event.at, body.decode(), raw, head))
        return rows, head

    def _write_events(self, rows: Sequence[EventRow]) -> None:
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
            row = (session.session_id, entry.events[-1].seq_no, write_json(session).decode())
            self._db.execute("INSERT OR REPLACE INTO sessions VALUES(?,?,?)", row)

    @property
    def unindexed(self) -> int:
        """How many events a reader of one session has to walk."""
        return self.seq_no - self._indexed

    def sizes(self) -> tuple[int, int]:
        """Bytes of the file, and of the part that is not folded into it yet."""
        return _size(self.path), _size(self.path.with_name(self.path.name + "-wal"))

    def index_sessions(self) -> None:
        """Index the next events by session. A failure costs only the next reader's time."""
        upto = min(self.seq_no, self._indexed + INDEX_CHUNK)
        if self.damage is not None or upto == self._indexed:
            return
        new = "SELECT session_id, seq_no FROM events WHERE seq_no > ? AND seq_no <= ? ORDER BY 1, 2"
        with suppress(sqlite3.Error):
            with transaction(self._db):
                self._db.execute(f"INSERT OR IGNORE INTO by_session {new}", (self._indexed, upto))
                self._db.execute("UPDATE indexed SET seq_no=?", (upto,))
            self._indexed = upto

    def trimmable(self) -> int:
        """The last event that may be trimmed."""
        return first_to_keep(self._db, self.unsent_from) - 1

    def cursor(self, hub: str) -> int | None:
        """The last event that a hub has acknowledged; None for a hub that was never joined."""
        row = self._db.execute("SELECT seq_no FROM cursors WHERE name=?", (hub,)).fetchone()
        return int(row[0]) if row else None

    def set_cursor(self, hub: str, seq_no: int | None) -> None:
        """Keep what a hub has acknowledged; None forgets the hub. A failure costs only that events are kept longer."""
        if self.damage is not None:
            return
        with suppress(sqlite3.Error), transaction(self._db):
            if seq_no is None:
                self._db.execute("DELETE FROM cursors WHERE name=?", (hub,))
            else:
                self._db.execute("INSERT OR REPLACE INTO cursors VALUES(?,?)", (hub, seq_no))

    def used_bytes(self) -> int:
        """The bytes of the file in use. The rest of the file is written again before it grows."""
        pages, free, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def trim(self, upto: int, *, at: float, why: str) -> int:
        """Delete the oldest events up to `upto`, but none that must stay, and only a few at a time so that no append
        waits. The chain then begins at the last of them. Returns how many were deleted."""
        last = min(upto, self.trimmable(), self.trimmed + TRIM_CHUNK)
        if self.damage is not None or last <= self.trimmed:
            return 0
        try:
            with transaction(self._db):
                delete_upto(self._db, last, at, why)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: cannot be trimmed ({error})") from None
        went, self.trimmed = last - self.trimmed, last
        self._indexed = max(self._indexed, last)
        return went

    def envelope(self, request_id: str) -> bytes | None:
        """The digest of the payload that a client sent under this id, if it did."""
        row = self._db.execute("SELECT digest FROM envelopes WHERE request_id=?", (request_id,)).fetchone()
        return row[0] if row else None

    def meta(self, key: str, default: str) -> str:
        """A value that is made once and kept."""
        self._db.execute("INSERT OR IGNORE INTO meta VALUES(?,?)", (key, default))
        return str(self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()[0])

    def save_snapshot(self, state: State, *, is_heavy: bool = False) -> None:
        """Keep the state, so that a restart folds only later events. Ended sessions have their own table."""
        if self.damage is not None:
            return
        body = (write_heavy if is_heavy else write_json)(replace(state, ended={})).decode()
        try:
            with transaction(self._db):
                self._db.execute("INSERT OR REPLACE INTO snapshots VALUES(?,?)", (state.seq_no, body))
                self._db.execute("DELETE FROM snapshots WHERE seq_no < ?", (state.seq_no,))
                self._db.execute(
                    "DELETE FROM sessions WHERE seq_no <"
                    " (SELECT max(s.seq_no) FROM sessions s WHERE s.session_id = sessions.session_id)"
                )
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: a snapshot cannot be written ({error})") from None

    def snapshot(self) -> State | None:
        """The last snapshot with the sessions that had ended by then; None when there is none or it is unreadable."""
        row = self._db.execute("SELECT seq_no, body FROM snapshots ORDER BY seq_no DESC LIMIT 1").fetchone()
        if row is None or row[0] > self.seq_no:
            return None
        try:
            state = upgraded_state(read_state(row[1]))
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
            yield from map(upgraded_event, read_events(rows))

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file. A failure costs only the next start's time."""
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._db.close()
