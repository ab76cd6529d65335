"""The rows of the log that the audit shows, with the subjects of their requests."""

from __future__ import annotations

import sqlite3

import msgspec
from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.audit.audit_row import AuditSubject
from quarterdeck.core.text.titles import SUBJECT_FIELDS
from quarterdeck.store.queries.feed_query import IN_SESSIONS, readable_event
from quarterdeck.store.schema import IS_AUDITED
from quarterdeck.store.upgrade import first_traits

MAX_SUBJECT = 2_000

_SUBJECT_PATHS = (
    *(f"$.tool_input.{key}" for key in SUBJECT_FIELDS),
    "$.tool_input.questions[0].question",
    "$.tool_input.message",
    "$.tool_input.plan",
)
_SUBJECT_QUERY = (
    "SELECT body ->> '$.tool_name', coalesce(body ->> '$.tool_kind', ''), substr(coalesce("  # noqa: S608
    + ", ".join(f"nullif(body ->> '{path}', '')" for path in _SUBJECT_PATHS)
    + f", ''), 1, {MAX_SUBJECT}) FROM requests WHERE request_id = ?"
)


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Filters for audit rows, oldest first. `after` and `before` are exclusive positions; with `before` and no `after`,
    the latest rows before it. `who` is a name without its surface, `sessions` are those of a project, `runner_id` is
    that of one machine among several."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    kinds: tuple[str, ...] = ()
    who: str | None = None
    since: float | None = None
    until: float | None = None
    project_id: str | None = None
    sessions: tuple[str, ...] | None = None
    runner_id: str | None = None

    @property
    def backwards(self) -> bool:
        """True if the page is read from its end."""
        return self.before is not None and self.after is None


class AuditedEvent(Struct, frozen=True):
    """An audited event, its position and its hash in the chain."""

    place: int
    event: FeedEvent
    hash: bytes


def read_audit(db: sqlite3.Connection, query: AuditQuery) -> list[AuditedEvent]:
    """The audited events that pass the filters."""
    filters: dict[str, object | None] = {
        "seq_no > ?": query.after,
        "seq_no < ?": query.before,
        "at >= ?": query.since,
        "at <= ?": query.until,
        IN_SESSIONS: None if query.sessions is None else msgspec.json.encode(query.sessions).decode(),
        _WHO: query.who,
        "json_extract(body,'$.runner_id') = ?": query.runner_id,
    }
    conditions = {clause: value for clause, value in filters.items() if value is not None}
    clauses = [IS_AUDITED, *conditions, *([f"kind IN ({','.join('?' * len(query.kinds))})"] if query.kinds else ())]
    order = "DESC" if query.backwards else "ASC"
    sql = (
        "SELECT seq_no, body, hash FROM events INDEXED BY audited"  # noqa: S608
        f" WHERE {' AND '.join(clauses)} ORDER BY seq_no {order} LIMIT ?"
    )
    rows = db.execute(sql, (*conditions.values(), *query.kinds, query.limit)).fetchall()
    found = [
        AuditedEvent(place, event, bytes(row_hash))
        for place, body, row_hash in rows
        if (event := readable_event(body)) is not None
    ]
    return found[::-1] if query.backwards else found


_BY = "(coalesce(body ->> '$.data.by', body ->> '$.actor_id') || ' via ')"
_WHO = f"json_valid(body) AND substr({_BY}, 1, instr({_BY}, ' via ') - 1) = ?"


def audit_subject(db: sqlite3.Connection, request_id: str | None) -> AuditSubject | None:
    """The subject of a request, as long as it is stored."""
    row = db.execute(_SUBJECT_QUERY, (request_id,)).fetchone() if request_id else None
    if not row or not row[0]:
        return None
    name, kind, subject = (part.decode(errors="replace") for part in row)
    return AuditSubject(name, subject, kind or first_traits(name).kind)
