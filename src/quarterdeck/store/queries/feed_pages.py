"""One page of the feed: by words, by the fields of events, or by number, whichever is fastest."""

from __future__ import annotations

import sqlite3

import msgspec

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.search_terms import SearchQuery, matches, read_search, searchable_text
from quarterdeck.store.queries.event_scan import AttachedIndex, EventScan
from quarterdeck.store.queries.feed_query import EventPage, FeedQuery, Row, conditions, log_end, order, readable_event
from quarterdeck.store.upgrade import upgraded_event
from quarterdeck.wire import read_events

# A page is parsed and sent at once; bodies of events may have megabytes.
PAGE_BYTES = 4 * 1024 * 1024
WALK = 10_000
"""How many events that are not indexed yet one search reads by default."""


class Pager:
    """Reads pages on the caller's connection, which must make one call at a time."""

    def __init__(self, db: sqlite3.Connection, index: AttachedIndex, walk: int) -> None:
        self._db = db
        self._index = index
        self._walk = walk

    def page(self, query: FeedQuery) -> EventPage:
        if query.search is not None:
            rows, stopped = self._searched(query, read_search(query.search))
        else:
            rows, stopped = EventScan(self._db, self._index, query).rows()
        kept = _fit_page(rows)
        more = len(kept) < len(rows) or len(rows) == query.limit
        if query.backwards:
            return _earlier_page(kept[::-1], more, stopped)
        last = kept[-1][0] if more else stopped
        events, places = _readable_events(kept)
        is_partial = stopped is not None and not more
        return EventPage(events, more or stopped is not None, last, partial=is_partial, places=places)

    def _searched(self, query: FeedQuery, search: SearchQuery) -> tuple[list[Row], int | None]:
        """Rows that match a search. The index answers up to its mark; later events are walked, up to a limit. Also the
        position where an ascending walk stopped before the end."""
        if not search.phrases:
            return [], None
        try:
            mark = self._index.mark()
            found = self._indexed(query, search, mark) if mark else []
        except sqlite3.DatabaseError:
            mark, found = 0, []
        if not query.backwards and len(found) == query.limit:
            return found, None
        walked, stopped = self._walked(query, search, mark)
        if query.backwards:
            return (walked + found)[: query.limit], None
        return (found + walked)[: query.limit], None if len(found + walked) >= query.limit else stopped

    def _indexed(self, query: FeedQuery, search: SearchQuery, mark: int) -> list[Row]:
        expression = " AND ".join(f'"{phrase}"' for phrase in search.phrases) + (" *" if search.prefix else "")
        where, values = conditions(query, "words.rowid", query.session_ids)
        sql = (
            "SELECT seq_no, kind, body FROM search.words CROSS JOIN events ON events.seq_no = words.rowid"  # noqa: S608
            f" WHERE words MATCH ? AND words.rowid <= ? AND {' AND '.join(where)}"
            f" ORDER BY words.rowid {order(query)} LIMIT ?"
        )
        return self._db.execute(sql, (expression, mark, *values, query.limit)).fetchall()

    def _walked(self, query: FeedQuery, search: SearchQuery, mark: int) -> tuple[list[Row], int | None]:
        where, values = conditions(query, "seq_no", query.session_ids)
        first, last = self._reach(query, mark)
        sql = f"SELECT seq_no, kind, body FROM events WHERE seq_no > {first} AND seq_no <= {last}"  # noqa: S608
        rows = self._db.execute(f"{sql} AND {' AND '.join(where)} ORDER BY seq_no {order(query)}", values)
        found: list[Row] = []
        for row in rows:
            event = readable_event(row[2])
            if event is not None and matches(searchable_text(event), search):
                found.append(row)
                if len(found) == query.limit:
                    break
        rows.close()
        return found, last if last < log_end(self._db) else None

    def _reach(self, query: FeedQuery, mark: int) -> tuple[int, int]:
        """The part of the log that is walked: (first, last]."""
        end = log_end(self._db)
        if query.backwards:
            last = min(end, (query.before or 1) - 1)
            return max(mark, last - self._walk), last
        first = max(mark, query.after or 0)
        return first, min(end, first + self._walk)


def _earlier_page(kept: list[Row], more: bool, stopped: int | None) -> EventPage:
    """A page that was read from its end. Reading goes on after its last event, and earlier before its first."""
    events, places = _readable_events(kept)
    if more:
        return EventPage(events, True, kept[-1][0], kept[0][0], places=places)
    return EventPage(events, False, None, stopped, partial=stopped is not None, places=places)


def _fit_page(rows: list[Row]) -> list[Row]:
    """As many rows as fit in a page; the first always does."""
    # Nearly every page fits: adding up all lengths at once is much faster than the loop below.
    if sum([len(body) for _, _, body in rows]) <= PAGE_BYTES:
        return rows
    total = 0
    for n, (_, _, body) in enumerate(rows):
        total += len(body)
        if total > PAGE_BYTES and n:
            return rows[:n]
    return rows


def _readable_events(rows: list[Row]) -> tuple[list[FeedEvent], tuple[int, ...]]:
    """The events of these rows with their positions, without damaged ones. All are read at once, which is much faster
    than one by one; only where one of them is damaged, each is tried."""
    try:
        events = list(map(upgraded_event, read_events([(kind, body) for _, kind, body in rows])))
        return events, tuple([place for place, _, _ in rows])
    except (ValueError, msgspec.MsgspecError):
        found = [(event, place) for place, _, body in rows if (event := readable_event(body)) is not None]
        return [event for event, _ in found], tuple(place for _, place in found)
