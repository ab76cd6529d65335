"""One who hears what happens to sessions of ours, and keeps it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from quarterdeck.core.engine.session_messages import Down, News
from quarterdeck.core.model.decisions import Decision, NoOpinion
from quarterdeck.sessions.launcher import Asked, TerminalWay

T = TypeVar("T")


class Heard:
    """Keeps all news."""

    def __init__(self) -> None:
        self.news: list[News] = []

    def tell(self, news: News) -> None:
        self.news.append(news)

    def stream(self, session_id: str, kind: str, data: Any) -> None:
        raise AssertionError(f"{session_id} streams {kind}: {data}")

    async def ask(self, asked: Asked) -> Decision:
        return NoOpinion()

    def downs(self) -> list[Down]:
        return [news for news in self.news if isinstance(news, Down)]


async def eventually(check: Callable[[], T], seconds: float = 10.0) -> T:
    """The first true value of `check`, while everything else goes on."""
    deadline = time.monotonic() + seconds
    while not (found := check()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        await asyncio.sleep(0.01)
    return found


async def shows(way: TerminalWay, session_id: str, words: str, seconds: float = 15.0) -> None:
    """Wait until its screen shows these words."""
    deadline = time.monotonic() + seconds
    while words not in (seen := await way.screen(session_id)):
        if time.monotonic() > deadline:
            raise AssertionError(f"no {words!r} within {seconds} s on:\n{seen}")
        await asyncio.sleep(0.05)
