"""A flood of events is drawn less often, and every action during it works as usual."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from quarterdeck.surfaces.tui.feed.rows.filter import FeedFilter
from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import Event, EventStory, turns
from tests.unit.surfaces.tui.feed.test_view import Stage, gaps, stage

pytestmark = pytest.mark.timeout(600)

MANY = 30_000


def flood(first: int = 1, count: int = MANY) -> list[Event]:
    book = EventStory(first=first)
    for n in range(first, first + count):
        book.says(f"word {n}.")
    return book.events


async def begin_flood(it: Stage, events: list[Event]) -> None:
    """Begin a flood: some of it is in the window, most of it is still in the queue, and nothing was drawn since."""
    before = it.view.rows.last
    it.app.log_of_events.events += events
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quarterdeck.surfaces.tui.feed.log_reader.FLOOD_FRAME_SECONDS", float("inf"))
        it.view.append(events)
        while it.view.rows.last < before + 1000:
            await asyncio.sleep(0)
    assert it.view.virtual_size.height < it.view.rows.height
    assert len(it.view._queue) > MANY / 2


async def flood_ends(it: Stage, last: int) -> None:
    await it.until(lambda: it.view.rows.last == last and not it.view._draining)


async def test_a_flood_that_is_followed_ends_at_its_end() -> None:
    async with stage(flood(count=100)) as it:
        for first in range(101, MANY, 1700):
            it.view.append(flood(first, 1700))
            await it.pilot.pause()
        last = it.view._queue[-1]["seq_no"] if it.view._queue else it.view.rows.last
        await flood_ends(it, last)
        assert it.view.following
        assert it.view.scroll_y == it.view.max_scroll_y == it.view.rows.height - it.view.size.height
        assert f"word {last}." in it.screen[-1]
        assert it.app.behind == []
        assert gaps(it.view) == []


@pytest.mark.parametrize(
    "act", [lambda view: view.action_page(-1), lambda view: view.action_move(-1), FeedView.action_start]
)
async def test_scrolling_up_in_a_flood_keeps_the_position(act: Callable[[FeedView], None]) -> None:
    async with stage(flood(count=3000)) as it:
        await begin_flood(it, flood(3001))
        act(it.view)
        assert not it.view.following
        read = it.screen
        await flood_ends(it, 3000 + MANY)
        assert it.screen[:-1] == read[:-1]
        assert it.screen[-1].endswith("new ↓")
        await it.press("G")
        assert f"word {3000 + MANY}." in it.screen[-1]


async def test_new_events_are_counted_from_where_you_left_the_end() -> None:
    async with stage(flood(count=3000)) as it:
        await begin_flood(it, flood(3001))
        shown = it.screen[-1]
        it.view.action_page(-1)
        await flood_ends(it, 3000 + MANY)
        at = int(shown.rpartition("word ")[2].rstrip(". "))
        assert it.view.behind == 3000 + MANY - at


async def test_a_row_clicked_or_opened_in_a_flood_stays_in_place() -> None:
    async with stage(flood(count=3000)) as it:
        await begin_flood(it, flood(3001))
        await it.pilot.click(FeedView, offset=(40, 10))
        chosen = it.screen[10]
        assert chosen.startswith("▌")
        await flood_ends(it, 3000 + MANY)
        assert it.screen[10] == chosen
        await it.press("enter")
        await it.until(lambda: "message.assistant" in it.text)
        assert it.screen[10] == chosen


async def test_a_search_in_a_flood_stays_at_its_match() -> None:
    async with stage(flood(count=3000)) as it:
        await begin_flood(it, flood(3001))
        it.view.search("word 2995.")
        while it.view.cursor is None:
            await asyncio.sleep(0)
        found = it.screen
        await flood_ends(it, 3000 + MANY)
        assert it.view.cursor == 2995
        assert it.screen[:-1] == found[:-1]
        assert "word 2995." in it.view.copy_text()


async def test_a_flood_of_turns_leaves_no_call_without_its_result() -> None:
    log = list(turns(8000))
    async with stage(log[:100]) as it:
        it.view.append(log[100:])
        await flood_ends(it, 8000)
        assert gaps(it.view) == []
        assert it.view.scroll_y == it.view.max_scroll_y


async def test_a_flood_ends_even_if_every_timer_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.surfaces.tui.feed.canvas.PAUSE_SECONDS", 1e-9)
    async with stage(flood(count=100)) as it:
        it.view.append(flood(101))
        await flood_ends(it, 100 + MANY)
        assert it.view.scroll_y == it.view.max_scroll_y


async def test_a_flood_ends_even_if_every_slice_is_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("log_reader", "canvas"):
        monkeypatch.setattr(f"quarterdeck.surfaces.tui.feed.{module}.SLICE_SECONDS", 0.0)
    async with stage(flood(count=100)) as it:
        it.view.append(flood(101, 3000))
        await flood_ends(it, 3100)
        it.view.set_filter(FeedFilter(level="error"))
        await it.until(lambda: not it.view._settling)
        assert it.view.rows.height == 0
