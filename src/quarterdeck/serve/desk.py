"""What the API asks of whoever it serves: a daemon, or a hub."""

from __future__ import annotations

from typing import Protocol

from quarterdeck.core.commands import Reply
from quarterdeck.core.decisions import Decision
from quarterdeck.core.state import Request, Session
from quarterdeck.store.reader import FeedQuery, Page


class Desk(Protocol):
    """Reads views, takes decisions."""

    @property
    def runner_id(self) -> str: ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be recorded, if so."""
        ...

    def sessions(self) -> list[Session]: ...

    def session(self, session_id: str) -> Session | None: ...

    async def feed(self, query: FeedQuery) -> Page: ...

    async def requests(self, status: str | None, after: int, limit: int) -> list[Request]: ...

    async def request(self, request_id: str) -> Request | None: ...

    async def decide(self, request_id: str, decision: Decision, digest: str, by: str, note: str | None) -> Reply: ...
