"""The audit as every surface sees it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from quarterdeck.views.resources.runner_resource import Resource


class AuditView(Resource, kw_only=True):
    """An entry of the audit. `agent` is that of its session, null where it is about none. `about`: the command, file,
    folder, rule or session, in one line. `source`: user, rule, timeout, elsewhere, or system when Quarterdeck acted by
    itself. `hash`: its hash in the chain. `digest`: of what the person was shown."""

    seq_no: int
    at: float
    kind: str
    session_id: str
    agent: str | None
    who: str
    surface: str | None
    source: str
    about: str
    what: dict[str, Any]
    digest: str | None
    hash: str


class AuditList(Struct, kw_only=True):
    audit: list[AuditView]
    next: int | None
