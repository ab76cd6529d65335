"""One event by its id or number, the events that caused it, and those that it caused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.field_keys import place_key
from quarterdeck.store.queries.event_scan import AttachedIndex
from quarterdeck.store.queries.feed_query import readable_event

MOST_CAUSES = 20
MOST_EFFECTS = 100


class Lineage(Struct, frozen=True):
    """The events that led to an event, the nearest first, and the first of those that it caused; `more` when it caused
    others too."""

    causes: list[FeedEvent]
    effects: list[FeedEvent]
    more: bool


class EventLookup:
    """Looks events up on the caller's connection."""

    def __init__(self, db: sqlite3.Connection, index: AttachedIndex) -> None:
        self._db = db
        self._index = index

    def find(self, name: str) -> FeedEvent | None:
        """The event with this id, or with this number."""
        if name.isdecimal() and len(name) < 19:
            row = self._db.execute("SELECT body FROM events WHERE seq_no = ?", (int(name),)).fetchone()
            return readable_event(row[0]) if row else None
        found = self._filed("run", name, "event_id", name, 0, 1)
        return found[0] if found else None

    def lineage(self, event: FeedEvent) -> Lineage:
        """A cause is always older than what it caused, so that nothing can cause itself."""
        effects = self._filed(
            "cause", event.event_id, "cause.parent_event_id", event.event_id, event.seq_no, MOST_EFFECTS + 1
        )
        return Lineage(list(self._causes(event)), effects[:MOST_EFFECTS], len(effects) > MOST_EFFECTS)

    def _causes(self, event: FeedEvent) -> Iterator[FeedEvent]:
        for _ in range(MOST_CAUSES):
            parent_id = event.cause.parent_event_id if event.cause else None
            parent = self.find(parent_id) if parent_id else None
            if parent is None or parent.seq_no >= event.seq_no:
                return
            yield parent
            event = parent

    def _filed(self, field: str, event_id: str, path: str, value: str, after: int, most: int) -> list[FeedEvent]:
        """Events after a position whose field is this value: filed under the id of an event of the same session."""
        key = place_key(field, event_id)
        if key is None:
            return []
        where = f"json_extract(body,'$.{path}') = ?"
        try:
            mark = self._index.mark()
        except sqlite3.DatabaseError:  # an index that is being made again, or damaged
            mark = 0
        rows: list[tuple[bytes]] = []
        if mark:
            rows = self._db.execute(
                f"SELECT body FROM search.fields JOIN events USING(seq_no) WHERE key = ? AND seq_no > ? AND {where}"  # noqa: S608
                " ORDER BY seq_no LIMIT ?",
                (key, after, value, most),
            ).fetchall()
        if len(rows) < most:
            session_id = event_id.rpartition(":E")[0].rpartition(":R")[0]
            rows += self._later(session_id, max(mark, after), where, value, most - len(rows))
        return [event for (body,) in rows if (event := readable_event(body)) is not None]

    def _later(self, session_id: str, after: int, where: str, value: str, most: int) -> list[tuple[bytes]]:
        """The same among the events of a session that the index does not have yet."""
        indexed = int(self._db.execute("SELECT seq_no FROM indexed").fetchone()[0])
        return self._db.execute(
            "SELECT body FROM (SELECT seq_no FROM by_session WHERE session_id = ?1 AND seq_no > ?2"  # noqa: S608
            " UNION SELECT seq_no FROM events WHERE session_id = ?1 AND seq_no > max(?2, ?3))"
            f" JOIN events USING(seq_no) WHERE {where.replace('?', '?4')} ORDER BY seq_no LIMIT ?5",
            (session_id, after, indexed, value, most),
        ).fetchall()
