"""Who waits for an answer on a connection, and what they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.core.model.state import Request

T = TypeVar("T")


class Told(Struct, frozen=True):
    """How an agent is answered. `recorded` is false when what it said is not in the log."""

    decision: Decision
    request: Request | None = None
    recorded: bool = True
    error: str | None = None


QUIET = Told(NoOpinion())
"""What an agent is told that nobody decides about."""


class Held(Struct, frozen=True):
    """The agent waits for a person; the answer comes later."""

    answer: asyncio.Future[Told]


class Holders:
    """Connections that wait, by the request they wait for; several may wait for one."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Future[Told]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self, request_id: str) -> Held:
        """One more that waits."""
        future: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request_id, []).append(future)
        return Held(future)

    def leave(self, request_id: str, answer: asyncio.Future[Told]) -> bool:
        """One that waited is gone; whether nobody is left who does."""
        waiting = self._waiting.get(request_id, [])
        if answer not in waiting:
            return False
        waiting.remove(answer)
        if not waiting:
            del self._waiting[request_id]
        return not waiting

    def answer(self, request_id: str, told: Told) -> None:
        """All who wait for this request hear the same."""
        for waiting in self._waiting.pop(request_id, ()):
            settle(waiting, told)

    def answer_all(self, told: Told) -> None:
        """Nobody waits any longer."""
        for request_id in list(self._waiting):
            self.answer(request_id, told)

    def since(self, requests: Mapping[str, Request]) -> float | None:
        """When the oldest request that is waited for was asked."""
        return min((requests[one].opened_at for one in self._waiting if one in requests), default=None)


def settle(future: asyncio.Future[T], value: T) -> None:
    """Say it to who still listens."""
    if not future.done():
        future.set_result(value)
