"""Reads the store of the hub beside the writer, with the queries of a daemon's log where they are the same."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from quarterdeck.core.text.audit.audit_row import AuditRow, audit_row
from quarterdeck.store.queries.audit_query import AuditQuery, audit_subject, read_audit
from quarterdeck.store.queries.event_lookup import Lineage, PlacedEvent
from quarterdeck.store.queries.feed_query import readable_event
from quarterdeck.store.reader import Reader

T = TypeVar("T")


class PlacedAuditRow(Struct, frozen=True):
    """A row of the audit with its place and its machine."""

    place: int
    runner_id: str
    row: AuditRow


class HubReader(Reader):
    """Read-only connections to hub.db, usable from any thread."""

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer to a question, on a connection that is free."""
        with self._connection() as connection:
            return question(connection.db)

    async def in_thread(self, read: Callable[[], T]) -> T:
        """What a query finds, without keeping the event loop."""
        return await asyncio.to_thread(read)

    def events_named(self, name: str, runner_id: str | None) -> list[PlacedEvent]:
        """The events with this id, of several machines at most two."""
        with self._connection() as connection:
            return connection.lookup.named(name, 2, runner_id)

    def event_numbered(self, runner_id: str, number: int) -> PlacedEvent | None:
        """The event with this number in the log of a machine."""
        sql = (
            "SELECT events.seq_no, body FROM by_machine JOIN events USING(seq_no) WHERE number >= ? AND machine ="
            " (SELECT machine FROM machines WHERE runner_id = ?) ORDER BY number LIMIT 1"
        )
        with self._connection() as connection:
            row = connection.db.execute(sql, (number, runner_id)).fetchone()
        event = None if row is None else readable_event(row[1])
        return None if event is None else PlacedEvent(row[0], event)

    def lineage(self, found: PlacedEvent) -> Lineage:
        """The causes and effects of an event."""
        with self._connection() as connection:
            return connection.lookup.lineage(found.event, found.place, found.event.runner_id)

    def audit_places(self, query: AuditQuery) -> list[PlacedAuditRow]:
        """The audited events of all machines with their places."""
        with self._connection() as connection:
            found = read_audit(connection.db, query)
            subjects = [audit_subject(connection.db, getattr(one.event.data, "request_id", None)) for one in found]
        return [
            PlacedAuditRow(one.place, one.event.runner_id, audit_row(one.event, one.hash, subject))
            for one, subject in zip(found, subjects, strict=True)
        ]
