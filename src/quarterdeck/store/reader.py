"""Reading the log beside the writer: pages of the feed, requests that are over, the audit."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request
from quarterdeck.core.text.audit_row import AuditRow, audit_row
from quarterdeck.store.audit_query import AuditQuery, asked_for, audited
from quarterdeck.store.feed_query import WALK, FeedQuery, Page, Pager
from quarterdeck.store.hash_chain import anchor_of
from quarterdeck.wire import read_event, read_request, whole

__all__ = ["AuditQuery", "FeedQuery", "Page", "Reader"]

STATUSES = ("pending", "decided", "withdrawn", "expired")
"""How a request can stand; the index knows requests by it."""

SIBLINGS = 200
"""How far back the first event of the same payload can be."""


class Reader:
    """A read-only connection of its own, usable from any thread, one query at a time. A search looks through `walk`
    events that are not indexed yet."""

    def __init__(self, path: Path, *, walk: int = WALK) -> None:
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._db.text_factory = bytes
        self._db.execute("PRAGMA query_only=1")
        self._db.execute("PRAGMA busy_timeout=2000")
        self._pager = Pager(self._db, path, walk)
        self._lock = threading.Lock()

    def feed(self, query: FeedQuery) -> Page:
        """One page of the feed, of at least one event and otherwise at most PAGE_BYTES. With `before` and no `after`
        it is the page that ends there."""
        with self._lock:
            return self._pager.page(query)

    def first_seq_no(self) -> int:
        """The first event a reader can get: those before it have been trimmed."""
        with self._lock:
            return anchor_of(self._db).seq_no + 1

    def last_before(self, at: float) -> int:
        """The last of the oldest events that all happened before this time; 0 when there is none."""
        with self._lock:
            row = self._db.execute("SELECT seq_no FROM events WHERE at >= ? ORDER BY seq_no LIMIT 1", (at,)).fetchone()
            last = row or self._db.execute("SELECT max(seq_no) + 1 FROM events").fetchone()
        return int(last[0] or 1) - 1

    def request(self, request_id: str) -> Request | None:
        with self._lock:
            row = self._db.execute("SELECT body FROM requests WHERE request_id=?", (request_id,)).fetchone()
        return read_request(row[0]) if row else None

    def requests(self, statuses: Sequence[str], *, after: int = 0, limit: int = 200) -> list[Request]:
        """Requests in these states, oldest first."""
        marks = ",".join("?" * len(statuses))
        sql = f"SELECT body FROM requests WHERE status IN ({marks}) AND seq_no > ? ORDER BY seq_no LIMIT ?"  # noqa: S608
        with self._lock:
            rows = self._db.execute(sql, (*statuses, after, limit)).fetchall()
        return [read_request(body) for (body,) in rows]

    def latest_requests(self, before: int | None, limit: int) -> tuple[list[Request], int]:
        """Requests from before this position, the newest first, and how many older ones are left."""
        upto = 2**63 - 1 if before is None else before
        newest = "SELECT seq_no, body FROM requests WHERE status=? AND seq_no < ? ORDER BY seq_no DESC LIMIT ?"
        older = "SELECT count(*) FROM requests WHERE status=? AND seq_no < ?"
        with self._lock:
            each = [self._db.execute(newest, (status, upto, limit)).fetchall() for status in STATUSES]
            rows = sorted((row for rows in each for row in rows), key=lambda row: -row[0])[:limit]
            last = rows[-1][0] if len(rows) == limit else 0
            left = sum(self._db.execute(older, (status, last)).fetchone()[0] for status in STATUSES) if last else 0
        return [read_request(body) for _, body in rows], left

    def audit(self, query: AuditQuery) -> list[AuditRow]:
        """Every decision and every change of a rule, a token, a setting or the log itself, oldest first."""
        with self._lock:
            found = audited(self._db, query)
            asked = [asked_for(self._db, getattr(event.data, "request_id", None)) for event, _ in found]
        return [audit_row(event, row_hash, one) for (event, row_hash), one in zip(found, asked, strict=True)]

    def payload(self, event: FeedEvent) -> dict[str, Any] | None:
        """The payload an event came from, when it was kept."""
        cause = event.cause.hook_request_id if event.cause else None
        sql = (
            "SELECT typeof(raw) = 'text', raw, body FROM events WHERE seq_no BETWEEN ? AND ? AND raw IS NOT NULL"
            " AND json_extract(body,'$.cause.hook_request_id')=? ORDER BY seq_no DESC LIMIT 1"
        )
        with self._lock:
            row = self._db.execute(sql, (event.seq_no - SIBLINGS, event.seq_no, cause)).fetchone()
        return whole(row[1].decode() if row[0] else row[1], read_event(row[2]).data) if row else None

    def close(self) -> None:
        with self._lock:
            self._db.close()
