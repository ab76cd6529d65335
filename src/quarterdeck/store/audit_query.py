"""Which rows of the log the audit shows, and what their requests were for."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.audit_row import AskedFor
from quarterdeck.core.text.titles import SUBJECT
from quarterdeck.store.feed_query import sound
from quarterdeck.store.schema import AUDITED

LONGEST = 2_000

_SAID = (*(f"$.tool_input.{key}" for key in SUBJECT), "$.tool_input.questions[0].question", "$.tool_input.message",
         "$.tool_input.plan")  # fmt: skip
_ASKED = (
    "SELECT body ->> '$.tool_name', substr(coalesce("  # noqa: S608
    + ", ".join(f"nullif(body ->> '{path}', '')" for path in _SAID)
    + f", ''), 1, {LONGEST}) FROM requests WHERE request_id = ?"
)


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Which deeds, oldest first; `after` and `before` are exclusive positions, with `before` and no `after` the latest
    ones before it. `who` is somebody's name without the surface."""

    after: int | None = None
    before: int | None = None
    limit: int = 200
    kinds: tuple[str, ...] = ()
    who: str | None = None
    since: float | None = None

    @property
    def backwards(self) -> bool:
        """Whether the page is read from its end."""
        return self.before is not None and self.after is None


def audited(db: sqlite3.Connection, query: AuditQuery) -> list[tuple[FeedEvent, bytes]]:
    """Each event with its hash in the chain."""
    given = {"seq_no > ?": query.after, "seq_no < ?": query.before, "at >= ?": query.since, _WHO: query.who}
    wanted = {clause: value for clause, value in given.items() if value is not None}
    clauses = [AUDITED, *wanted, *([f"kind IN ({','.join('?' * len(query.kinds))})"] if query.kinds else ())]
    order = "DESC" if query.backwards else "ASC"
    sql = (
        "SELECT body, hash FROM events INDEXED BY audited"  # noqa: S608
        f" WHERE {' AND '.join(clauses)} ORDER BY seq_no {order} LIMIT ?"
    )
    rows = db.execute(sql, (*wanted.values(), *query.kinds, query.limit)).fetchall()
    found = [(event, bytes(row_hash)) for body, row_hash in rows if (event := sound(body)) is not None]
    return found[::-1] if query.backwards else found


_BY = "(coalesce(body ->> '$.data.by', body ->> '$.actor_id') || ' via ')"
_WHO = f"json_valid(body) AND substr({_BY}, 1, instr({_BY}, ' via ') - 1) = ?"


def asked_for(db: sqlite3.Connection, request_id: str | None) -> AskedFor | None:
    """What a request was for, as long as it is known."""
    row = db.execute(_ASKED, (request_id,)).fetchone() if request_id else None
    return AskedFor(*(part.decode(errors="replace") for part in row)) if row and row[0] else None
