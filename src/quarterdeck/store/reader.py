"""Reading the log beside the writer: pages of the feed, requests that are over, sessions that have ended."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from quarterdeck.core.feed import FeedEvent
from quarterdeck.core.state import Request
from quarterdeck.wire import read_event, read_request, whole, write_json

PAGE_BYTES = 4 * 1024 * 1024
SIBLINGS = 200
"""How far back the first event of the same payload can be."""


class FeedQuery(Struct, frozen=True, kw_only=True):
    """Which events, oldest first; `after` and `before` are exclusive positions."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    session_id: str | None = None
    kinds: tuple[str, ...] = ()
    actor_id: str | None = None
    tool: str | None = None
    search: str | None = None


class Page(Struct, frozen=True):
    """Events, and whether the page was cut before all that match were read."""

    events: list[FeedEvent]
    more: bool


class Reader:
    """A read-only connection of its own, usable from any thread, one query at a time."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._db.create_function("casefold", 1, _casefold, deterministic=True)
        self._db.execute("PRAGMA query_only=1")
        self._db.execute("PRAGMA busy_timeout=2000")
        self._lock = threading.Lock()

    def feed(self, query: FeedQuery) -> Page:
        """One page of the feed, of at least one event and otherwise at most PAGE_BYTES. With `before` and no `after`
        it is the page that ends there."""
        backwards = query.before is not None and query.after is None
        with self._lock:
            rows = self._rows(query, backwards)
        kept = _within(rows)
        events = [event for row in kept if (event := _sound(*row)) is not None]
        more = len(kept) < len(rows) or len(rows) == query.limit
        return Page(events[::-1] if backwards else events, more)

    def _rows(self, query: FeedQuery, backwards: bool) -> list[tuple[str]]:
        """The index covers a session up to `indexed`; what came after it is few and is walked."""
        if query.session_id is None:
            return self._page("events", query, backwards, query.limit)
        indexed = self._db.execute("SELECT seq_no FROM indexed").fetchone()[0]
        old = ("by_session JOIN events USING(seq_no)", f"by_session.seq_no <= {indexed}", "by_session.session_id")
        new = ("events", f"seq_no > {indexed}", "events.session_id")
        rows: list[tuple[str]] = []
        for table, part, column in (new, old) if backwards else (old, new):
            if len(rows) < query.limit:
                rows += self._page(table, query, backwards, query.limit - len(rows), part, f"{column} = ?")
        return rows

    def _page(
        self, table: str, query: FeedQuery, backwards: bool, limit: int, part: str = "1", session: str = ""
    ) -> list[tuple[str]]:
        where, values = _conditions(query)
        if session:
            where, values = [session, *where], [query.session_id, *values]
        order = "DESC" if backwards else "ASC"
        sql = f"SELECT body FROM {table} WHERE {' AND '.join([part, *where])} ORDER BY seq_no {order} LIMIT ?"  # noqa: S608
        return self._db.execute(sql, (*values, limit)).fetchall()

    def first_seq_no(self) -> int:
        """The position of the oldest event that is kept; 1 before there is any."""
        with self._lock:
            row = self._db.execute("SELECT min(seq_no) FROM events").fetchone()
        return int(row[0] or 1)

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

    def payload(self, event: FeedEvent) -> dict[str, Any] | None:
        """The payload an event came from, when it was kept."""
        cause = event.cause.hook_request_id if event.cause else None
        sql = (
            "SELECT raw, body FROM events WHERE seq_no BETWEEN ? AND ? AND raw IS NOT NULL"
            " AND json_extract(body,'$.cause.hook_request_id')=? ORDER BY seq_no DESC LIMIT 1"
        )
        with self._lock:
            row = self._db.execute(sql, (event.seq_no - SIBLINGS, event.seq_no, cause)).fetchone()
        return whole(row[0], read_event(row[1]).data) if row else None

    def close(self) -> None:
        with self._lock:
            self._db.close()


def _casefold(text: object) -> str:
    return text.casefold() if isinstance(text, str) else ""


def _within(rows: list[tuple[str]]) -> list[tuple[str]]:
    """As many rows as fit in a page; the first always does."""
    total = 0
    for n, (body,) in enumerate(rows):
        total += len(body)
        if total > PAGE_BYTES and n:
            return rows[:n]
    return rows


def _needle(search: str) -> str:
    """The text as it stands in stored JSON."""
    return write_json(search).decode()[1:-1].casefold()


def _sound(body: object) -> FeedEvent | None:
    """The event in a row; None where the file is damaged, which the log's own check has named."""
    try:
        return read_event(body) if isinstance(body, str) else None
    except (ValueError, msgspec.MsgspecError):
        return None


def _conditions(query: FeedQuery) -> tuple[list[str], list[object]]:
    where, values = ["seq_no > ?"], [query.after or 0]
    extra: list[tuple[str, object | None]] = [
        ("seq_no < ?", query.before),
        ("json_extract(body,'$.actor_id') = ?", query.actor_id),
        ("json_extract(body,'$.data.tool_name') = ?", query.tool),
        ("instr(casefold(body -> '$.data'), ?) > 0", _needle(query.search) if query.search else None),
    ]
    all_values: list[object] = list(values)
    for condition, value in extra:
        if value is not None:
            where.append(condition)
            all_values.append(value)
    if query.kinds:
        where.append(f"kind IN ({','.join('?' * len(query.kinds))})")
        all_values += query.kinds
    return where, all_values
