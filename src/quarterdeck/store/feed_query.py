"""One page of the feed: by number, by session, by words, whichever leads there soonest."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.search_terms import Search, matches, read_search, searched
from quarterdeck.store.search_index import search_path
from quarterdeck.wire import read_event, read_events

PAGE_BYTES = 4 * 1024 * 1024
WALK = 10_000
"""How many events that are not indexed yet one search looks through, unless told."""


class FeedQuery(Struct, frozen=True, kw_only=True):
    """Which events, oldest first; `after` and `before` are exclusive positions, `since` and `until` times.
    `sessions` are those of a project."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    session_id: str | None = None
    kinds: tuple[str, ...] = ()
    actor_id: str | None = None
    tool: str | None = None
    search: str | None = None
    since: float | None = None
    until: float | None = None
    project_id: str | None = None
    sessions: tuple[str, ...] | None = None

    @property
    def backwards(self) -> bool:
        """Whether the page is read from its end."""
        return self.before is not None and self.after is None

    @property
    def among(self) -> tuple[str, ...] | None:
        """The sessions asked for; None for all."""
        if self.session_id is None:
            return self.sessions
        return (self.session_id,) if self.sessions is None or self.session_id in self.sessions else ()


class Page(Struct, frozen=True):
    """Events, whether the page was cut before all that match were read, and where reading goes on after it."""

    events: list[FeedEvent]
    more: bool
    next: int | None = None


Row = tuple[int, bytes, bytes]
AMONG = "events.session_id IN (SELECT value FROM json_each(?))"


class Pager:
    """Reads pages on a connection of somebody else's, who asks for one at a time."""

    def __init__(self, db: sqlite3.Connection, log: Path, walk: int) -> None:
        self._db = db
        self._words = search_path(log)
        self._attached = False
        self._walk = walk

    def page(self, query: FeedQuery) -> Page:
        stopped = None
        if query.search is not None:
            rows, stopped = self._searched(query, read_search(query.search))
        elif query.among is not None:
            rows = self._of_sessions(query, query.among)
        else:
            rows = self._rows("events", query, query.limit)
        kept = _within(rows)
        events = _events([(kind, body) for _, kind, body in kept])
        more = len(kept) < len(rows) or len(rows) == query.limit
        if query.backwards:
            events.reverse()
        last = stopped if not more else events[-1].seq_no if events else kept[-1][0]
        return Page(events, more or stopped is not None, last)

    def _of_sessions(self, query: FeedQuery, sessions: tuple[str, ...]) -> list[Row]:
        """The index covers sessions up to `indexed`; what came after it is few and is walked."""
        indexed = int(self._db.execute("SELECT seq_no FROM indexed").fetchone()[0])
        parts = (self._walked_sessions, self._indexed_sessions)
        rows: list[Row] = []
        for part in parts if query.backwards else parts[::-1]:
            if len(rows) < query.limit:
                rows += part(query, sessions, indexed, query.limit - len(rows))
        return rows

    def _walked_sessions(self, query: FeedQuery, sessions: tuple[str, ...], indexed: int, limit: int) -> list[Row]:
        return self._rows("events", query, limit, [f"seq_no > {indexed}", AMONG], [_json(sessions)])

    def _indexed_sessions(self, query: FeedQuery, sessions: tuple[str, ...], indexed: int, limit: int) -> list[Row]:
        """Of several sessions first the numbers, of each by itself; then the events."""
        table, parts = "by_session JOIN events USING(seq_no)", [f"seq_no <= {indexed}", "by_session.session_id = ?"]
        if len(sessions) == 1:
            return self._rows(table, query, limit, parts, [*sessions])
        found = (self._rows(table, query, limit, parts, [session], "x''") for session in sessions)
        numbers = sorted((n for rows in found for n, _, _ in rows), reverse=query.backwards)[:limit]
        marks = ",".join(map(str, numbers))
        sql = f"SELECT seq_no, kind, body FROM events WHERE seq_no IN ({marks}) ORDER BY seq_no {_order(query)}"  # noqa: S608
        return self._db.execute(sql).fetchall()

    def _searched(self, query: FeedQuery, search: Search) -> tuple[list[Row], int | None]:
        """The index answers up to its mark; what came after it is walked, up to a limit. Gives where an ascending
        walk stopped before the end."""
        if not search.phrases:
            return [], None
        try:
            mark = self._mark()
            found = self._indexed(query, search, mark) if mark else []
        except sqlite3.DatabaseError:
            mark, found = 0, []
        if not query.backwards and len(found) == query.limit:
            return found, None
        walked, stopped = self._walked(query, search, mark)
        if query.backwards:
            return (walked + found)[: query.limit], None
        return (found + walked)[: query.limit], None if len(found + walked) >= query.limit else stopped

    def _mark(self) -> int:
        """The last event in the index; 0 while there is none."""
        if not self._attached:
            if not self._words.exists():
                return 0
            self._db.execute("ATTACH ? AS search", (f"{self._words.absolute().as_uri()}?mode=ro",))
            self._attached = True
        return int(self._db.execute("SELECT seq_no FROM search.mark").fetchone()[0])

    def _indexed(self, query: FeedQuery, search: Search, mark: int) -> list[Row]:
        expression = " AND ".join(f'"{phrase}"' for phrase in search.phrases) + (" *" if search.prefix else "")
        where, values = _conditions(query, "words.rowid")
        if query.among is not None:
            where.append(AMONG)
            values.append(_json(query.among))
        sql = (
            "SELECT seq_no, kind, body FROM search.words CROSS JOIN events ON events.seq_no = words.rowid"  # noqa: S608
            f" WHERE words MATCH ? AND words.rowid <= ? AND {' AND '.join(where)}"
            f" ORDER BY words.rowid {_order(query)} LIMIT ?"
        )
        return self._db.execute(sql, (expression, mark, *values, query.limit)).fetchall()

    def _walked(self, query: FeedQuery, search: Search, mark: int) -> tuple[list[Row], int | None]:
        where, values = _conditions(query, "seq_no")
        if query.among is not None:
            where.append(AMONG)
            values.append(_json(query.among))
        first, last = self._reach(query, mark)
        sql = f"SELECT seq_no, kind, body FROM events WHERE seq_no > {first} AND seq_no <= {last}"  # noqa: S608
        rows = self._db.execute(f"{sql} AND {' AND '.join(where)} ORDER BY seq_no {_order(query)}", values)
        found: list[Row] = []
        for row in rows:
            event = sound(row[2])
            if event is not None and matches(searched(event), search):
                found.append(row)
                if len(found) == query.limit:
                    break
        rows.close()
        return found, last if last < self._end() else None

    def _reach(self, query: FeedQuery, mark: int) -> tuple[int, int]:
        """The part of the log that is walked: (first, last]."""
        if query.backwards:
            last = min(self._end(), (query.before or 1) - 1)
            return max(mark, last - self._walk), last
        first = max(mark, query.after or 0)
        return first, min(self._end(), first + self._walk)

    def _end(self) -> int:
        return int(self._db.execute("SELECT max(seq_no) FROM events").fetchone()[0] or 0)

    def _rows(
        self,
        table: str,
        query: FeedQuery,
        limit: int,
        parts: list[str] | None = None,
        values: list[object] | None = None,
        column: str = "body",
    ) -> list[Row]:
        where, more = _conditions(query, "seq_no")
        both = " AND ".join([*(parts or []), *where])
        sql = f"SELECT seq_no, kind, {column} FROM {table} WHERE {both} ORDER BY seq_no {_order(query)} LIMIT ?"  # noqa: S608
        return self._db.execute(sql, (*(values or []), *more, limit)).fetchall()


def _order(query: FeedQuery) -> str:
    return "DESC" if query.backwards else "ASC"


def _json(values: tuple[str, ...]) -> str:
    return msgspec.json.encode(values).decode()


def _conditions(query: FeedQuery, number: str) -> tuple[list[str], list[object]]:
    asked: list[tuple[str, object | None]] = [
        (f"{number} > ?", query.after or 0),
        (f"{number} < ?", query.before),
        ("at >= ?", query.since),
        ("at <= ?", query.until),
        ("json_extract(body,'$.actor_id') = ?", query.actor_id),
        ("json_extract(body,'$.data.tool_name') = ?", query.tool),
    ]
    where = [condition for condition, value in asked if value is not None]
    values = [value for _, value in asked if value is not None]
    if query.kinds:
        where.append(f"kind IN ({','.join('?' * len(query.kinds))})")
        values += query.kinds
    return where, values


def _within(rows: list[Row]) -> list[Row]:
    """As many rows as fit in a page; the first always does."""
    if sum([len(body) for _, _, body in rows]) <= PAGE_BYTES:
        return rows
    total = 0
    for n, (_, _, body) in enumerate(rows):
        total += len(body)
        if total > PAGE_BYTES and n:
            return rows[:n]
    return rows


def _events(rows: list[tuple[bytes, bytes]]) -> list[FeedEvent]:
    """The events of these rows, without damaged ones."""
    try:
        return read_events(rows)
    except (ValueError, msgspec.MsgspecError):
        return [event for _, body in rows if (event := sound(body)) is not None]


def sound(body: bytes) -> FeedEvent | None:
    """The event in a row; None where the file is damaged, which the log's own check has named."""
    try:
        return read_event(body)
    except (ValueError, msgspec.MsgspecError):
        return None
