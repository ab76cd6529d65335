"""The rows of events that pass the filters of a query: from the index where there is one, walked where there is none,
and no longer than the query allows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from pathlib import Path

from msgspec import Struct

from quarterdeck.store.queries.feed_query import FeedQuery, Row, conditions, log_end, order
from quarterdeck.store.queries.field_keys import ORDINARY, place_range, plain_key
from quarterdeck.store.search_index import BLOCK, LAYOUT, search_path

STEP = 4_096
"""Events that are compared between two looks at the clock."""
SELECTIVE = 2_000
"""Of two fields with more events than this each, neither is known to be the rarer one."""
OF_MACHINE = (
    "SELECT seq_no FROM by_machine WHERE machine = (SELECT machine FROM machines WHERE runner_id = ?)"
    " AND seq_no > ? AND seq_no <= ?"
)
"""The positions of one machine's events; only the store of a hub has these tables."""


class AttachedIndex:
    """The index beside a log, attached to a connection that reads the log."""

    def __init__(self, db: sqlite3.Connection, log: Path) -> None:
        self._db = db
        self._path = search_path(log)
        self._attached: int | None = None

    def mark(self) -> int:
        """The last event in the index; 0 while there is none, or one of another layout."""
        try:
            file = self._path.stat().st_ino
        except FileNotFoundError:
            return 0
        if file != self._attached:  # an index that is made again is another file
            self._attach(file)
        if self._db.execute("PRAGMA search.user_version").fetchone()[0] != LAYOUT:
            return 0
        return int(self._db.execute("SELECT seq_no FROM search.mark").fetchone()[0])

    def _attach(self, file: int) -> None:
        if self._attached is not None:
            self._db.execute("DETACH search")
            self._attached = None
        self._db.execute("ATTACH ? AS search", (f"{self._path.absolute().as_uri()}?mode=ro",))
        self._attached = file

    def first_since(self, at: float) -> int | None:
        """The first indexed event that may have happened at this time or later; None when there is none."""
        found = self._db.execute("SELECT min(block) FROM search.blocks WHERE high >= ?", (at,)).fetchone()[0]
        return None if found is None else int(found) * BLOCK

    def last_until(self, at: float) -> int:
        """The last indexed event that may have happened by this time."""
        found = self._db.execute("SELECT max(block) FROM search.blocks WHERE low <= ?", (at,)).fetchone()[0]
        return 0 if found is None else int(found) * BLOCK + BLOCK - 1


class Numbers(Struct, frozen=True):
    """The numbers of some events: `sql` gives those of each of `values` in a range, of events up to `upto`."""

    sql: str
    values: tuple[tuple[object, ...], ...]
    upto: int

    def count(self, db: sqlite3.Connection) -> int:
        """How many there are, as far as it matters."""
        sql = f"SELECT count(*) FROM ({self.sql} LIMIT {SELECTIVE})"  # noqa: S608
        return sum(db.execute(sql, (*value, 0, self.upto)).fetchone()[0] for value in self.values)

    def between(self, db: sqlite3.Connection, first: int, last: int, query: FeedQuery, most: int) -> list[int]:
        """At most so many in (first, last], from the end at which the query begins."""
        sql = f"{self.sql} ORDER BY seq_no {order(query)} LIMIT ?"
        each = [[n for (n,) in db.execute(sql, (*value, first, last, most))] for value in self.values]
        return list(islice(merge(*each, reverse=query.backwards), most))


class EventScan:
    """One query. `rows` are in the order in which they are read: backwards from the end of a page with `before`."""

    def __init__(self, db: sqlite3.Connection, index: AttachedIndex, query: FeedQuery) -> None:
        self._db = db
        self._query = query
        self._until = None if query.seconds is None else time.monotonic() + query.seconds
        self._end = log_end(db)
        try:
            self._mark = index.mark()
            self._outside = self._outside_times(index)
        except sqlite3.DatabaseError:  # an index that is being made again, or damaged
            self._mark, self._outside = 0, (0, 0, 0)
        self._numbers = self._rarest()
        self._where, self._values = conditions(query, "seq_no", query.session_ids)

    def _outside_times(self, index: AttachedIndex) -> tuple[int, int, int]:
        """The indexed events that are too early: up to the first number; or too late: after the second, up to the
        third."""
        query = self._query
        if not self._mark or (query.since is None and query.until is None):
            return 0, 0, 0
        first = 0 if query.since is None else index.first_since(query.since)
        first = self._mark if first is None else first - 1
        last = self._mark if query.until is None else min(self._mark, index.last_until(query.until))
        return max(0, first), last, self._mark

    def _rarest(self) -> Numbers | None:
        """The numbers to begin with: those of the field that fewest events have. None where all events are compared."""
        query, found = self._query, list[Numbers]()
        if (sessions := query.session_ids) is not None:
            indexed = int(self._db.execute("SELECT seq_no FROM indexed").fetchone()[0])
            sql = "SELECT seq_no FROM by_session WHERE session_id = ? AND seq_no > ? AND seq_no <= ?"
            found.append(Numbers(sql, tuple((session,) for session in sessions), indexed))
        if query.runner_id is not None:
            found.append(Numbers(OF_MACHINE, ((query.runner_id,),), self._end))
        if self._mark:
            fields = {
                "kind": query.kinds,
                "level": () if ORDINARY in query.levels else query.levels,
                "actor": (query.actor_id,) if query.actor_id is not None else (),
                "tool": (query.tool,) if query.tool is not None else (),
            }
            one = "SELECT seq_no FROM search.fields WHERE key = ? AND seq_no > ? AND seq_no <= ?"
            for field, words in fields.items():
                if words:
                    found.append(Numbers(one, tuple((plain_key(field, word),) for word in words), self._mark))
            if query.run_id is not None:
                places = "SELECT seq_no FROM search.fields WHERE key BETWEEN ? AND ? AND seq_no > ? AND seq_no <= ?"
                found.append(Numbers(places, (place_range("run", query.run_id),), self._mark))
        if len(found) < 2:
            return found[0] if found else None
        return min(found, key=lambda numbers: numbers.count(self._db))

    def rows(self) -> tuple[list[Row], int | None]:
        """At most as many rows as the query asks for, and the position at which time ran out, if it did."""
        found: list[Row] = []
        for first, last, is_indexed in self._ranges():
            stopped = self._read(found, first, last, is_indexed)
            if len(found) == self._query.limit:
                return found, None
            if stopped is not None:
                return found, stopped
        return found, None

    def _ranges(self) -> list[tuple[int, int, bool]]:
        """The parts of the log that are read, each (first, last], and whether the numbers know its events."""
        query = self._query
        early, late, mark = self._outside
        start, end = max(query.after or 0, early), self._end
        end = end if query.before is None else min(end, query.before - 1)
        border = self._numbers.upto if self._numbers else 0
        parts = [(start, min(end, late)), (max(start, mark), end)] if late < mark else [(start, end)]
        split = [
            piece
            for first, last in parts
            for piece in ((first, min(last, border), True), (max(first, border), last, False))
            if piece[0] < piece[1]
        ]
        return split[::-1] if query.backwards else split

    def _read(self, found: list[Row], first: int, last: int, is_indexed: bool) -> int | None:
        steps = self._numbered(first, last) if is_indexed else self._neighbours(first, last)
        place: int | None = None
        for condition, values, reached in steps:
            if place is not None and self._until is not None and time.monotonic() > self._until:
                return place
            left = self._query.limit - len(found)
            sql = (
                f"SELECT seq_no, kind, body FROM events WHERE {condition} AND {' AND '.join(self._where)}"  # noqa: S608
                f" ORDER BY seq_no {order(self._query)} LIMIT ?"
            )
            found += self._db.execute(sql, (*values, *self._values, left)).fetchall()
            if len(found) == self._query.limit:
                return None
            place = reached
        return None

    def _numbered(self, first: int, last: int) -> Iterator[tuple[str, tuple[object, ...], int]]:
        """The events of the rarest field, a growing number at a time: usually the first few have enough matches."""
        most = self._query.limit
        while self._numbers is not None:
            numbers = self._numbers.between(self._db, first, last, self._query, most)
            if not numbers:
                return
            place = numbers[-1]
            yield f"seq_no IN ({','.join(map(str, numbers))})", (), place
            if len(numbers) < most:
                return
            first, last = (first, place - 1) if self._query.backwards else (place, last)
            most = min(2 * most, STEP)

    def _neighbours(self, first: int, last: int) -> Iterator[tuple[str, tuple[object, ...], int]]:
        """All events, or so many at a time as are compared between two looks at the clock."""
        is_plain = len(self._where) == 1 + (self._query.before is not None)
        step = last - first if is_plain or self._until is None else STEP
        while first < last:
            if self._query.backwards:
                start = max(first, last - step)
                yield "seq_no > ? AND seq_no <= ?", (start, last), start + 1
                last = start
            else:
                end = min(last, first + step)
                yield "seq_no > ? AND seq_no <= ?", (first, end), end
                first = end
