"""The audit view of an event: who did what exactly, when, and where it stands in the chain."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.audit_subject import AskedFor, about

__all__ = ["AskedFor", "AuditRow", "audit_row"]

_WHAT = (
    "request_id",
    "decision_type",
    "wanted",
    "agent_session_id",
    "pid",
    "command",
    "status",
    "late",
    "overrides",
    "message",
    "reason",
    "note",
    "updated_digest",
    "rule_id",
    "effect",
    "pattern",
    "scope",
    "token_id",
    "action",
    "name",
    "marketplace",
    "transport",
    "project",
    "path",
    "trust",
    "outcome",
    "error",
    "scopes",
    "expires_at",
    "key",
    "old",
    "new",
    "upto",
    "events",
    "why",
)
"""What the data of an audited event can say of the deed, in the order shown."""


class AuditRow(Struct, frozen=True, kw_only=True):
    """`about` names in a line the command, file, folder, rule or session; `source` is user, rule, timeout, elsewhere,
    or system for what we do by ourselves; `hash` is the row's in the chain, `digest` that of what was shown."""

    seq_no: int
    at: float
    kind: str
    session_id: str
    who: str
    surface: str | None
    source: str
    about: str
    what: dict[str, Any]
    digest: str | None
    hash: str


def audit_row(event: FeedEvent, row_hash: bytes, asked: AskedFor | None = None) -> AuditRow:
    """The event as the audit shows it; `asked` is what the request that it decides was for."""
    data = event.data
    by = str(_of(data, "by") or event.actor_id)
    who, _, surface = by.partition(" via ")
    source = _of(data, "source")
    what = {"tool_name": asked.tool_name} if asked else {}
    what |= {name: value for name in _WHAT if (value := _of(data, name)) not in (None, False)}
    return AuditRow(
        seq_no=event.seq_no,
        at=event.at,
        kind=event.kind,
        session_id=event.session_id,
        who=who,
        surface=surface or None,
        source=str(source) if source else "user" if event.actor_id == "user" else "system",
        about=about(event, asked),
        what=what,
        digest=_of(data, "digest"),
        hash=row_hash.hex(),
    )


def _of(data: Any, name: str) -> Any:
    return data.get(name) if isinstance(data, dict) else getattr(data, name, None)
