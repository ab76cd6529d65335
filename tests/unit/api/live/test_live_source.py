"""The source of live updates of one machine."""

from __future__ import annotations

import json
from typing import Any, cast

from quarterdeck.api.backend import Backend
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.store.reader import EventPage, FeedQuery


def event(seq_no: int) -> FeedEvent[Any]:
    run: dict[str, Any] = {"session_id": "s1", "run_id": "s1:R0", "event_id": f"s1:R0:E{seq_no}", "seq": seq_no}
    rest: dict[str, Any] = {"runner_id": "otter", "at": 1.0, "level": "info", "actor_id": "system"}
    return FeedEvent(seq_no=seq_no, kind="note", data={}, **run, **rest)


class ThreeEvents:
    """A log of three events."""

    seq_no = 3

    async def events(self, query: FeedQuery) -> EventPage:
        found = [event(n) for n in range(1, 4) if (query.after or 0) < n < (query.before or 9)]
        return EventPage(found[: query.limit], len(found) > query.limit)


async def test_the_place_of_an_event_is_its_number_and_its_cursor() -> None:
    nothing = dict.fromkeys(Backend.__struct_fields__, cast(Any, None))
    source = MachineSource(Backend(**nothing | {"runner_id": "otter", "feed": ThreeEvents(), "sessions": {}}))
    page = await source.page(1, 4, 1)
    assert (list(page.places), page.more) == ([2], True)
    message = json.loads(source.event_message(page.events[0]))
    assert (message["type"], message["cursor"], message["event"]["seq_no"]) == ("event", 2, 2)
    assert (source.cursor(7), source.place_of(7), source.place_of("p7")) == (7, 7, None)
