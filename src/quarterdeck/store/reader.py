"""Reads the log beside the writer: pages of the feed, single events, requests that are over, the audit, counts."""

from __future__ import annotations

import queue
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import REQUEST_STATUSES, Request
from quarterdeck.core.text.audit.audit_row import AuditRow, audit_row
from quarterdeck.errors import TooSlow
from quarterdeck.store.counts.series_reader import read_series
from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.store.queries.actor_activity import ActorActivity, actor_activity
from quarterdeck.store.queries.audit_query import AuditQuery, audit_subject, read_audit
from quarterdeck.store.queries.event_lookup import EventLookup, Lineage
from quarterdeck.store.queries.event_scan import AttachedIndex
from quarterdeck.store.queries.feed_pages import WALK, Pager
from quarterdeck.store.queries.feed_query import EventPage, FeedQuery
from quarterdeck.store.sqlite import read_only
from quarterdeck.store.upgrade import upgraded_request
from quarterdeck.views.counts.series import SeriesAnswer, SeriesQuery
from quarterdeck.views.run_history import RUN_KINDS
from quarterdeck.wire import full_payload, read_event, read_request

__all__ = ["ActorActivity", "AuditQuery", "EventPage", "FeedQuery", "Lineage", "Reader", "RunEvents"]

SIBLINGS = 200
"""How far back the first event of the same payload can be."""
MOST_RUN_EVENTS = 20_000
QUERY_SECONDS = 10.0
STEPS = 20_000
"""Steps of SQLite between two looks at the clock, a fraction of a millisecond apart."""


class RunEvents(Struct, frozen=True):
    """Events that runs are made of, in order, and the positions where later and earlier runs are."""

    events: list[FeedEvent]
    next: int | None
    previous: int | None = None


class LogRow(NamedTuple):
    """One event as it is stored."""

    seq_no: int
    session_id: str
    kind: str
    body: bytes


class LogRows(NamedTuple):
    """Rows without a gap between them, and the last event that was trimmed when they were read."""

    rows: list[LogRow]
    trimmed: int


class LogConnection:
    """One read-only connection, for one query at a time."""

    def __init__(self, path: Path, walk: int) -> None:
        self.db = read_only(path)
        self.db.execute("PRAGMA query_only=1")
        index = AttachedIndex(self.db, path)
        self.pager = Pager(self.db, index, walk)
        self.lookup = EventLookup(self.db, index)

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """End a query that takes longer. SQLite asks between its steps, also while it finds nothing."""
        until = time.monotonic() + seconds
        self.db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
        try:
            yield
        except sqlite3.OperationalError as error:
            if time.monotonic() <= until:
                raise
            raise TooSlow(f"the log was read for {seconds:g} s without an end; ask for less ({error})") from None
        finally:
            self.db.set_progress_handler(None, 0)


class Reader:
    """Read-only connections of its own, usable from any thread, each with one query at a time: a slow query delays
    others only while all connections have one. A search reads at most `walk` events that are not indexed yet; no query
    takes longer than `seconds`."""

    def __init__(self, path: Path, *, walk: int = WALK, connections: int = 1, seconds: float = QUERY_SECONDS) -> None:
        self._seconds = seconds
        self._path = path
        self._connections = [LogConnection(path, walk) for _ in range(connections)]
        # The last one that was used is taken first: its cache has what the next query likely needs.
        self._free: queue.LifoQueue[LogConnection] = queue.LifoQueue()
        for connection in self._connections:
            self._free.put(connection)

    @contextmanager
    def _connection(self) -> Iterator[LogConnection]:
        """A free connection; SQLite would mix up the steps of two queries on one."""
        connection = self._free.get()
        try:
            with connection.limited(self._seconds):
                yield connection
        finally:
            self._free.put(connection)

    def feed(self, query: FeedQuery) -> EventPage:
        """One page of the feed: at least one event, and otherwise at most PAGE_BYTES. With `before` and no `after`, the
        page that ends there."""
        with self._connection() as connection:
            return connection.pager.page(query)

    def event(self, name: str) -> tuple[FeedEvent, Lineage] | None:
        """The event with this id or number, with its causes and effects."""
        with self._connection() as connection:
            event = connection.lookup.find(name)
            return None if event is None else (event, connection.lookup.lineage(event))

    def run_events(self, session_id: str, after: int | None, before: int | None, limit: int) -> RunEvents:
        """What runs are made of: those whose start is between these positions, as `feed` chooses them."""
        starts = FeedQuery(session_id=session_id, kinds=("run.start",), after=after, before=before, limit=limit)
        with self._connection() as connection:
            page = connection.pager.page(starts)
            if not page.events:
                return RunEvents([], None)
            following = FeedQuery(session_id=session_id, kinds=("run.start",), after=page.events[-1].seq_no, limit=1)
            after_last = connection.pager.page(following).events
            end = after_last[0].seq_no if after_last else None
            found, place = list[FeedEvent](), page.events[0].seq_no - 1
            while len(found) < MOST_RUN_EVENTS:
                query = FeedQuery(session_id=session_id, kinds=RUN_KINDS, after=place, before=end, limit=1_000)
                part = connection.pager.page(query)
                found += part.events
                if part.next is None:
                    break
                place = part.next
            return RunEvents(found, page.events[-1].seq_no if after_last else None, page.previous)

    def activity(self, session_id: str) -> dict[str, ActorActivity]:
        """The activity of every actor of a session."""
        with self._connection() as connection:
            return actor_activity(connection.db, session_id)

    def series(self, query: SeriesQuery) -> SeriesAnswer:
        """Counts over time, on a connection of its own, since they are in another file."""
        return read_series(self._path, query)

    def first_seq_no(self) -> int:
        """The first event that a reader can get: earlier ones were trimmed."""
        with self._connection() as connection:
            return anchor_of(connection.db).seq_no + 1

    def rows_after(self, after: int, limit: int, most_bytes: int) -> LogRows:
        """The stored rows after this position: at least one if there is any, at most so many bytes. All is read at one
        moment, so that a trim meanwhile makes no hole."""
        sql = "SELECT seq_no, session_id, kind, body FROM events WHERE seq_no > ? ORDER BY seq_no LIMIT ?"
        rows, size = list[LogRow](), 0
        with self._connection() as connection:
            connection.db.execute("BEGIN")
            try:
                trimmed = anchor_of(connection.db).seq_no
                for seq_no, session_id, kind, body in connection.db.execute(sql, (after, limit)):
                    size += len(body)
                    if rows and size > most_bytes:
                        break
                    rows.append(LogRow(seq_no, session_id.decode(), kind.decode(), body))
            finally:
                connection.db.execute("COMMIT")
        return LogRows(rows, trimmed)

    def last_before(self, at: float) -> int:
        """The last of the oldest events that all happened before this time; 0 when there is none."""
        with self._connection() as connection:
            row = connection.db.execute(
                "SELECT seq_no FROM events WHERE at >= ? ORDER BY seq_no LIMIT 1", (at,)
            ).fetchone()
            last = row or connection.db.execute("SELECT max(seq_no) + 1 FROM events").fetchone()
        return int(last[0] or 1) - 1

    def request(self, request_id: str) -> Request | None:
        found = self._requests("SELECT body FROM requests WHERE request_id=?", request_id)
        return found[0] if found else None

    def requests(self, statuses: Sequence[str], *, after: int = 0, limit: int = 200) -> list[Request]:
        """Requests with one of these statuses, oldest first."""
        marks = ",".join("?" * len(statuses))
        sql = f"SELECT body FROM requests WHERE status IN ({marks}) AND seq_no > ? ORDER BY seq_no LIMIT ?"  # noqa: S608
        return self._requests(sql, *statuses, after, limit)

    def _requests(self, sql: str, *values: object) -> list[Request]:
        with self._connection() as connection:
            rows = connection.db.execute(sql, values).fetchall()
        return [upgraded_request(read_request(body)) for (body,) in rows]

    def latest_requests(self, before: int | None, limit: int) -> tuple[list[Request], int]:
        """Requests before this position, newest first, and how many older ones are left."""
        upto = 2**63 - 1 if before is None else before
        newest = "SELECT seq_no, body FROM requests WHERE status=? AND seq_no < ? ORDER BY seq_no DESC LIMIT ?"
        older = "SELECT count(*) FROM requests WHERE status=? AND seq_no < ?"
        # One query for each status: all in one would not use the index by status.
        with self._connection() as connection:
            each = [connection.db.execute(newest, (status, upto, limit)).fetchall() for status in REQUEST_STATUSES]
            rows = sorted((row for rows in each for row in rows), key=lambda row: -row[0])[:limit]
            last = rows[-1][0] if len(rows) == limit else 0
            counts = (connection.db.execute(older, (status, last)).fetchone()[0] for status in REQUEST_STATUSES)
            left = sum(counts) if last else 0
        return [upgraded_request(read_request(body)) for _, body in rows], left

    def audit(self, query: AuditQuery) -> list[AuditRow]:
        """Every decision and every change of a rule, a token, a setting or the log itself, oldest first."""
        with self._connection() as connection:
            found = read_audit(connection.db, query)
            subjects = [audit_subject(connection.db, getattr(one.event.data, "request_id", None)) for one in found]
        return [audit_row(one.event, one.hash, subject) for one, subject in zip(found, subjects, strict=True)]

    def payload(self, event: FeedEvent) -> dict[str, Any] | None:
        """The payload of an event, when it was kept."""
        cause = event.cause.hook_request_id if event.cause else None
        sql = (
            "SELECT typeof(raw) = 'text', raw, body FROM events WHERE seq_no BETWEEN ? AND ? AND raw IS NOT NULL"
            " AND json_extract(body,'$.cause.hook_request_id')=? ORDER BY seq_no DESC LIMIT 1"
        )
        with self._connection() as connection:
            row = connection.db.execute(sql, (event.seq_no - SIBLINGS, event.seq_no, cause)).fetchone()
        return full_payload(row[1].decode() if row[0] else row[1], read_event(row[2]).data) if row else None

    def close(self) -> None:
        """Close every connection, after its present query."""
        for _ in self._connections:
            self._free.get().db.close()
