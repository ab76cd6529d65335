"""A window over the log: pages from the daemon by their place, one event by its number, what a search finds."""

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


class Page(Struct, frozen=True):
    """Events in the order of the log, and whether there are more beyond them."""

    events: list[Event]
    more: bool


class FeedSource:
    """Reads by `get(path, **query)`, which may block: each call is made in a thread. Keeps a bounded number of whole
    events, since rows keep little of them."""

    def __init__(self, get: Get, *, events: int = 1000, chars: int = 32_000_000) -> None:
        self._get = get
        self._events = events
        self._chars = chars
        self._held: OrderedDict[int, tuple[Event, int]] = OrderedDict()
        self._weight = 0

    async def before(self, seq_no: int | None, session_id: str | None = None, limit: int = PAGE, **query: Any) -> Page:
        """The last events before one; None for those at the end of the log."""
        asked = {"before": FAR if seq_no is None else seq_no, "limit": limit, "session_id": session_id, **query}
        found = await self._page(asked)
        return Page(found["events"], bool(found["events"]))

    async def after(self, seq_no: int, session_id: str | None = None, limit: int = PAGE, **query: Any) -> Page:
        """The first events after one."""
        found = await self._page({"after": seq_no, "limit": limit, "session_id": session_id, **query})
        return Page(found["events"], found.get("next") is not None)

    async def event(self, seq_no: int) -> Event | None:
        """One whole event; None when it has left the log or the daemon is away."""
        held = self.held(seq_no)
        if held is not None:
            return held
        try:
            page = await self.after(seq_no - 1, limit=1)
        except QuarterdeckError:
            return None
        self.keep(page.events)
        return page.events[0] if page.events and page.events[0]["seq_no"] == seq_no else None

    async def _page(self, query: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._get, "/api/v1/feed", **query)

    def held(self, seq_no: int) -> Event | None:
        """An event that is at hand."""
        found = self._held.get(seq_no)
        if found is None:
            return None
        self._held.move_to_end(seq_no)
        return found[0]

    def keep(self, events: list[Event]) -> None:
        """Hold the last of these events, and let go of what was not looked at for longest."""
        for event in events[-self._events :]:
            seq_no, size = event["seq_no"], weight(event.get("data"))
            old = self._held.pop(seq_no, None)
            self._weight += size - (old[1] if old else 0)
            self._held[seq_no] = (event, size)
        while len(self._held) > self._events or (self._weight > self._chars and len(self._held) > 1):
            _, (_, size) = self._held.popitem(last=False)
            self._weight -= size


def weight(value: Any, depth: int = 4) -> int:
    """About how many characters a value holds, looked up rather than counted."""
    if isinstance(value, str):
        return len(value)
    if depth and isinstance(value, dict):
        return 64 + sum([weight(item, depth - 1) for item in value.values()])
    if depth and isinstance(value, list):
        return 16 * len(value) + sum([weight(item, depth - 1) for item in value[:200]])
    return 16
