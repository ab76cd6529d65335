"""Connections that wait for an answer, and the answers they get."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.core.model.state import Request

T = TypeVar("T")


class HookAnswer(Struct, frozen=True):
    """The answer to a hook call. `recorded` is false when the call is not in the log."""

    decision: Decision
    request: Request | None = None
    recorded: bool = True
    error: str | None = None


NO_OPINION = HookAnswer(NoOpinion())
"""The answer to a call that needs no decision. Compared by identity, so that transports can count these calls apart."""


class HookPending(Struct, frozen=True):
    """A hook call that waits for a person; its answer comes later."""

    answer: asyncio.Future[HookAnswer]


class Waiters:
    """Waiting connections by the request they wait for; several may wait for one."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Future[HookAnswer]]] = {}
        self._away: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, request_id: str) -> None:
        """Expect a connection that waited before a restart to come back."""
        self._away.add(request_id)

    def is_away(self, request_id: str) -> bool:
        """True if an expected connection has not come back."""
        return request_id in self._away

    def join(self, request_id: str) -> HookPending:
        """Add a connection that waits."""
        future: asyncio.Future[HookAnswer] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request_id, []).append(future)
        self._away.discard(request_id)
        return HookPending(future)

    def leave(self, request_id: str, answer: asyncio.Future[HookAnswer]) -> bool:
        """Remove a connection that closed. True when it was the last one of its request."""
        waiting = self._waiting.get(request_id, [])
        if answer not in waiting:
            return False
        waiting.remove(answer)
        if not waiting:
            del self._waiting[request_id]
        return not waiting

    def answer(self, request_id: str, answer: HookAnswer) -> None:
        """Give every connection of this request the same answer."""
        self._away.discard(request_id)
        for waiting in self._waiting.pop(request_id, ()):
            resolve(waiting, answer)

    def answer_all(self, answer: HookAnswer) -> None:
        """Give every connection this answer."""
        for request_id in list(self._waiting):
            self.answer(request_id, answer)

    def since(self, requests: Mapping[str, Request]) -> float | None:
        """When the oldest request with a waiting connection was opened."""
        return min((requests[one].opened_at for one in self._waiting if one in requests), default=None)


def resolve(future: asyncio.Future[T], value: T) -> None:
    """Set the result of a future, unless it is cancelled or already resolved."""
    if not future.done():
        future.set_result(value)
