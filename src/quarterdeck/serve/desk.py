"""What the API asks of whoever it serves: a daemon, or a hub."""

from __future__ import annotations

from typing import Any, Protocol

from quarterdeck.core.audit import AuditRow
from quarterdeck.core.commands import CreateToken, Reply
from quarterdeck.core.decisions import Decision
from quarterdeck.core.state import Request, Session, Token
from quarterdeck.store.reader import FeedQuery, Page


class Desk(Protocol):
    """Reads views, takes decisions."""

    @property
    def runner_id(self) -> str: ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be recorded, if so."""
        ...

    @property
    def health(self) -> str:
        """`ok`; `nearly_full` when only decisions are recorded; `read_only` when nothing is."""
        ...

    def stats(self) -> dict[str, Any]:
        """How it does: the figures of `GET /stats`."""
        ...

    @property
    def seq_no(self) -> int:
        """The position of the last event."""
        ...

    async def can_resume(self, after: int) -> bool:
        """Whether everything after this position is still there."""
        ...

    def sessions(self) -> list[Session]: ...

    def live_sessions(self) -> list[Session]: ...

    def pending(self) -> list[Request]: ...

    def session(self, session_id: str) -> Session | None: ...

    async def feed(self, query: FeedQuery) -> Page: ...

    async def audit(self, after: int, limit: int) -> list[AuditRow]: ...

    async def requests(self, status: str | None, after: int, limit: int) -> list[Request]: ...

    async def request(self, request_id: str) -> Request | None: ...

    def tokens(self) -> list[Token]: ...

    async def create_token(self, command: CreateToken) -> Reply: ...

    async def revoke_token(self, token_id: str, by: str) -> Reply: ...

    async def decide(self, request_id: str, decision: Decision, digest: str, by: str, note: str | None) -> Reply: ...
