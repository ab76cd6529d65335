"""The feed's source: reads pages, single events and search results from the daemon, and caches whole events."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from quarterdeck.errors import QuarterdeckError

Event = dict[str, Any]
Get = Callable[..., dict[str, Any]]
PAGE = 300
FAR = 2**62


class SourcePage(Struct, frozen=True):
    """Events in the order of the log, and whether there are more after or before them."""

    events: list[Event]
    more: bool


class FeedSource:
    """Reads with `get(path, **query)`, which may block, so each call runs in a thread. Caches a bounded number of whole
    events."""

    def __init__(self, get: Get, *, events: int = 1000, chars: int = 32_000_000) -> None:
        self._get = get
        self._events = events
        self._chars = chars
        # Rows keep only a part of their events, and an opened row shows them whole.
        self._cache: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._weight = 0

    async def before(
        self, seq_no: int | None, session_id: str | None = None, limit: int = PAGE, **query: Any
    ) -> SourcePage:
        """The last events before `seq_no`; with None the last ones of the log."""
        before = FAR if seq_no is None else seq_no
        page = await self._page({"before": before, "limit": limit, "session_id": session_id, **query})
        return SourcePage(page["events"], bool(page["events"]))

    async def after(self, seq_no: int, session_id: str | None = None, limit: int = PAGE, **query: Any) -> SourcePage:
        """The first events after `seq_no`."""
        page = await self._page({"after": seq_no, "limit": limit, "session_id": session_id, **query})
        return SourcePage(page["events"], page.get("next") is not None)

    async def event(self, seq_no: int) -> Event | None:
        """One whole event; None if it is no longer in the log or the daemon does not answer."""
        cached = self.cached(seq_no)
        if cached is not None:
            return cached
        try:
            page = await self.after(seq_no - 1, limit=1)
        except QuarterdeckError:
            return None
        self.keep(page.events)
        return page.events[0] if page.events and page.events[0]["seq_no"] == seq_no else None

    async def _page(self, query: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._get, "/api/v1/feed", **query)

    def cached(self, seq_no: int) -> Event | None:
        """An event from the cache."""
        found = self._cache.get(seq_no)
        if found is None:
            return None
        self._cache.move_to_end(seq_no)
        return found[0]

    def keep(self, events: list[Event]) -> None:
        """Cache the last of these events, and drop the least recently used ones."""
        for event in events[-self._events :]:
            seq_no, size = event["seq_no"], weight(event.get("data"))
            old = self._cache.pop(seq_no, None)
            self._weight += size - (old[1] if old else 0)
            self._cache[seq_no] = (event, size)
        while len(self._cache) > self._events or (self._weight > self._chars and len(self._cache) > 1):
            _, (_, size) = self._cache.popitem(last=False)
            self._weight -= size


def weight(value: Any, depth: int = 4) -> int:
    """An estimate of the characters in a value. It adds lengths and stops early, so it is quick for any value."""
    if isinstance(value, str):
        return len(value)
    if depth and isinstance(value, dict):
        return 64 + sum([weight(item, depth - 1) for item in value.values()])
    if depth and isinstance(value, list):
        return 16 * len(value) + sum([weight(item, depth - 1) for item in value[:200]])
    return 16
