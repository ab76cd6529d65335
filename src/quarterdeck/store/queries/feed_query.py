"""A query of the feed: its filters as conditions of SQL, and the page it gives."""

from __future__ import annotations

import sqlite3

import msgspec
from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.upgrade import upgraded_event
from quarterdeck.wire import read_event


class FeedQuery(Struct, frozen=True, kw_only=True):
    """Filters for events, oldest first. `after` and `before` are exclusive positions, `since` and `until` times.
    `sessions` are those of a project, `runner_id` is that of one machine among several. After `seconds` the page has
    what was found by then."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    session_id: str | None = None
    run_id: str | None = None
    kinds: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    actor_id: str | None = None
    tool: str | None = None
    search: str | None = None
    since: float | None = None
    until: float | None = None
    project_id: str | None = None
    sessions: tuple[str, ...] | None = None
    runner_id: str | None = None
    seconds: float | None = None

    @property
    def backwards(self) -> bool:
        """True if the page is read from its end."""
        return self.before is not None and self.after is None

    @property
    def session_ids(self) -> tuple[str, ...] | None:
        """The requested sessions; None for all."""
        if self.session_id is None:
            return self.sessions
        return (self.session_id,) if self.sessions is None or self.session_id in self.sessions else ()


class EventPage(Struct, frozen=True):
    """Events, whether more may match, the position where reading goes on, and the one before which an earlier page
    ends. A `partial` page ran out of time: there may be more events even if it has none. `places` are the positions of
    the events; only in the store of a hub do they differ from the numbers of the events."""

    events: list[FeedEvent]
    more: bool
    next: int | None = None
    previous: int | None = None
    partial: bool = False
    places: tuple[int, ...] = ()


Row = tuple[int, bytes, bytes]
"""The number, the kind and the body of an event."""
IN_SESSIONS = "events.session_id IN (SELECT value FROM json_each(?))"


def log_end(db: sqlite3.Connection) -> int:
    """The last event of the log; 0 when there is none."""
    return int(db.execute("SELECT max(seq_no) FROM events").fetchone()[0] or 0)


def order(query: FeedQuery) -> str:
    """The order in which the rows of a page are read."""
    return "DESC" if query.backwards else "ASC"


def conditions(
    query: FeedQuery, number: str, sessions: tuple[str, ...] | None = None
) -> tuple[list[str], list[object]]:
    """The conditions for an event whose number is in the column `number`, and their values; `sessions` None for all."""
    filters: list[tuple[str, object | None]] = [
        (f"{number} > ?", query.after or 0),
        (f"{number} < ?", query.before),
        ("at >= ?", query.since),
        ("at <= ?", query.until),
        ("json_extract(body,'$.actor_id') = ?", query.actor_id),
        ("json_extract(body,'$.run_id') = ?", query.run_id),
        ("json_extract(body,'$.data.tool_name') = ?", query.tool),
        ("json_extract(body,'$.runner_id') = ?", query.runner_id),
        (IN_SESSIONS, None if sessions is None else msgspec.json.encode(sessions).decode()),
    ]
    where = [condition for condition, value in filters if value is not None]
    values = [value for _, value in filters if value is not None]
    for column, words in (("kind", query.kinds), ("json_extract(body,'$.level')", query.levels)):
        if words:
            where.append(f"{column} IN ({','.join('?' * len(words))})")
            values += words
    return where, values


def readable_event(body: bytes) -> FeedEvent | None:
    """The event in a row; None where the file is damaged, which the log's own check has reported."""
    try:
        return upgraded_event(read_event(body))
    except (ValueError, msgspec.MsgspecError):
        return None
