"""`GET /audit`: every decision, and every change of a rule, a token, a setting, a plugin, an MCP server or the log."""

from __future__ import annotations

from litestar import get
from litestar.datastructures import State as AppState
from msgspec import Struct

from quarterdeck.core.audit import AuditRow
from quarterdeck.serve.desk import Desk
from quarterdeck.serve.reading import OBSERVE, Limit, Position


class Audit(Struct, kw_only=True):
    audit: list[AuditRow]
    next: int | None


@get("/audit", opt=OBSERVE)
async def list_audit(state: AppState, after: Position = None, limit: Limit = 200) -> Audit:
    """Who did what exactly and when, oldest first, each with its hash in the chain; `next` continues it."""
    desk: Desk = state.desk
    rows = await desk.audit(after or 0, limit)
    return Audit(audit=rows, next=rows[-1].seq_no if len(rows) == limit else None)
