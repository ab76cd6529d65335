"""`GET /audit`: every decision, and every change of a rule, a token, a setting, a plugin, an MCP server or the log."""

from __future__ import annotations

from litestar import get
from litestar.datastructures import State as AppState
from litestar.params import FromQuery
from msgspec import Struct

from quarterdeck.api.backend import Desk
from quarterdeck.api.routes.queries import OBSERVE, Limit, Position, Time
from quarterdeck.core.text.audit_row import AuditRow
from quarterdeck.store.reader import AuditQuery


class Audit(Struct, kw_only=True):
    audit: list[AuditRow]
    next: int | None


@get("/audit", opt=OBSERVE)
async def list_audit(
    state: AppState,
    after: Position = None,
    before: Position = None,
    limit: Limit = 200,
    kind: FromQuery[list[str] | None] = None,
    who: FromQuery[str | None] = None,
    since: Time = None,
) -> Audit:
    """Who did what exactly and when, oldest first, each with its hash in the chain; `next` continues it. With `before`
    and no `after` it is the page that ends there."""
    desk: Desk = state.desk
    query = AuditQuery(after=after, before=before, limit=limit, kinds=tuple(kind or ()), who=who, since=since)
    rows = await desk.audit(query)
    more = len(rows) == limit and not query.backwards
    return Audit(audit=rows, next=rows[-1].seq_no if more else None)
