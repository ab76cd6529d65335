"""One event by its id or number, the events that caused it, and those that it caused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.queries.event_scan import AttachedIndex
from quarterdeck.store.queries.feed_query import readable_event
from quarterdeck.store.queries.field_keys import place_key

MOST_CAUSES = 20
MOST_EFFECTS = 100


class Lineage(Struct, frozen=True):
    """The events that led to an event, the nearest first, and the first of those that it caused; `more` when it caused
    others too."""

    causes: list[FeedEvent]
    effects: list[FeedEvent]
    more: bool


class PlacedEvent(Struct, frozen=True):
    """An event and its position, which differs from its number only in the store of a hub."""

    place: int
    event: FeedEvent

    @property
    def kind(self) -> str:
        return self.event.kind

    @property
    def session_id(self) -> str:
        return self.event.session_id


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
        found = self.named(name, 1)
        return found[0].event if found else None

    def named(self, event_id: str, most: int, runner_id: str | None = None) -> list[PlacedEvent]:
        """The events with this id: several machines may each have one."""
        return self._filed("run", event_id, "event_id", 0, most, runner_id)

    def lineage(self, event: FeedEvent, place: int | None = None, runner_id: str | None = None) -> Lineage:
        """A cause is always older than what it caused, so that nothing can cause itself."""
        start = event.seq_no if place is None else place
        found = self._filed("cause", event.event_id, "cause.parent_event_id", start, MOST_EFFECTS + 1, runner_id)
        effects = [one.event for one in found]
        return Lineage(list(self._causes(event, runner_id)), effects[:MOST_EFFECTS], more=len(effects) > MOST_EFFECTS)

    def _causes(self, event: FeedEvent, runner_id: str | None) -> Iterator[FeedEvent]:
        for _ in range(MOST_CAUSES):
            parent_id = event.cause.parent_event_id if event.cause else None
            found = self.named(parent_id, 1, runner_id) if parent_id else []
            if not found or found[0].event.seq_no >= event.seq_no:
                return
            event = found[0].event
            yield event

    def _filed(
        self, field: str, event_id: str, path: str, after: int, most: int, runner_id: str | None
    ) -> list[PlacedEvent]:
        """Events after a position whose field is this id: filed under the id of an event of the same session."""
        key = place_key(field, event_id)
        if key is None:
            return []
        where = f"json_extract(body,'$.{path}') = ?"
        values: tuple[str, ...] = (event_id,)
        if runner_id is not None:
            where, values = f"{where} AND json_extract(body,'$.runner_id') = ?", (event_id, runner_id)
        try:
            mark = self._index.mark()
        except sqlite3.DatabaseError:  # an index that is being made again, or damaged
            mark = 0
        rows: list[tuple[int, bytes]] = []
        if mark:
            rows = self._db.execute(
                "SELECT seq_no, body FROM search.fields JOIN events USING(seq_no)"  # noqa: S608
                f" WHERE key = ? AND seq_no > ? AND {where} ORDER BY seq_no LIMIT ?",
                (key, after, *values, most),
            ).fetchall()
        if len(rows) < most:
            session_id = event_id.rpartition(":E")[0].rpartition(":R")[0]
            rows += self._later(session_id, max(mark, after), where, values, most - len(rows))
        return [PlacedEvent(n, event) for n, body in rows if (event := readable_event(body)) is not None]

    def _later(
        self, session_id: str, after: int, where: str, values: tuple[str, ...], most: int
    ) -> list[tuple[int, bytes]]:
        """The same among the events of a session that the index does not have yet."""
        indexed = int(self._db.execute("SELECT seq_no FROM indexed").fetchone()[0])
        return self._db.execute(
            "SELECT seq_no, body FROM (SELECT seq_no FROM by_session WHERE session_id = ? AND seq_no > ?"  # noqa: S608
            " UNION SELECT seq_no FROM events WHERE session_id = ? AND seq_no > ?)"
            f" JOIN events USING(seq_no) WHERE {where} ORDER BY seq_no LIMIT ?",
            (session_id, after, session_id, max(after, indexed), *values, most),
        ).fetchall()
