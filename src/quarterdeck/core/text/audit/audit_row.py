"""An event as a row of the audit: who did what and when, and its place in the hash chain."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.text.audit.audit_subject import AuditSubject, about

__all__ = ["AuditRow", "AuditSubject", "audit_row"]

_DETAIL_FIELDS = (
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
    "scope_id",
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
"""Fields of an audited event that its row shows, in display order."""


class AuditRow(Struct, frozen=True, kw_only=True):
    """A row of the audit. `about`: the command, file, folder, rule or session, in one line. `source`: user, rule,
    timeout, elsewhere, or system when Quarterdeck acted by itself. `hash`: the row's hash in the chain. `digest`: the
    digest of what the person was shown."""

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


def audit_row(event: FeedEvent, row_hash: bytes, subject: AuditSubject | None = None) -> AuditRow:
    """Return the event as the audit shows it. `subject` belongs to the request that a decision event decides."""
    data = event.data
    by = str(_field(data, "by") or event.actor_id)
    who, _, surface = by.partition(" via ")
    source = _field(data, "source")
    details = {"tool_name": subject.tool_name} if subject else {}
    details |= {name: value for name in _DETAIL_FIELDS if (value := _field(data, name)) not in (None, False)}
    return AuditRow(
        seq_no=event.seq_no,
        at=event.at,
        kind=event.kind,
        session_id=event.session_id,
        who=who,
        surface=surface or None,
        source=str(source) if source else "user" if event.actor_id == "user" else "system",
        about=about(event, subject),
        what=details,
        digest=_field(data, "digest"),
        hash=row_hash.hex(),
    )


def _field(data: Any, name: str) -> Any:
    return data.get(name) if isinstance(data, dict) else getattr(data, name, None)
