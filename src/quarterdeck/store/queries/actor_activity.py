"""The activity of each actor of a session, counted over its events."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from msgspec import Struct

COUNTED = (
    "SELECT json_extract(body,'$.actor_id'), kind, count(*), min(at), max(at) FROM"
    " (SELECT seq_no FROM by_session WHERE session_id = ?1"
    " UNION SELECT seq_no FROM events WHERE session_id = ?1 AND seq_no > (SELECT seq_no FROM indexed))"
    " JOIN events USING(seq_no) WHERE json_valid(body) GROUP BY 1, 2"
)


class ActorActivity(Struct, frozen=True):
    """The number of an actor's events by kind, and the times of its first and its last event."""

    kinds: Mapping[str, int]
    first_at: float
    last_at: float

    @property
    def events(self) -> int:
        return sum(self.kinds.values())


def actor_activity(db: sqlite3.Connection, session_id: str) -> dict[str, ActorActivity]:
    """The activity of every actor of this session, by its id."""
    found: dict[str, ActorActivity] = {}
    for actor, kind, count, first, last in db.execute(COUNTED, (session_id,)):
        name = actor.decode(errors="replace")
        before = found.get(name, ActorActivity({}, first, last))
        kinds = {**before.kinds, kind.decode(errors="replace"): count}
        found[name] = ActorActivity(kinds, min(before.first_at, first), max(before.last_at, last))
    return found
