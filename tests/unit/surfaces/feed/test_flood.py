"""A flood of events: it is drawn less often, and everything one does meanwhile is as right as in a calm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from quarterdeck.surfaces.tui.feed.view import FeedView
from tests.support.feed import Book, Event, turns
from tests.unit.surfaces.feed.test_view import Stage, gaps, stage

MANY = 30_000


def flood(first: int = 1, count: int = MANY) -> list[Event]:
    book = Book(first=first)
    for n in range(first, first + count):
        book.says(f"word {n}.")
    return book.events


async def begun(it: Stage, events: list[Event]) -> None:
    """A flood that is under way: some of it is in the window, most of it still waits, and nothing was drawn since."""
    before = it.view.rows.last
    it.app.log_of_events.events += events
    it.view.append(events)
    while it.view.rows.last < before + 1000 or it.view.virtual_size.height == it.view.rows.height:
        await asyncio.sleep(0)
    assert it.view._queue


async def over(it: Stage, last: int) -> None:
    await it.until(lambda: it.view.rows.last == last and not it.view._draining)


async def test_a_flood_that_is_followed_ends_at_its_end() -> None:
    async with stage(flood(count=100)) as it:
        for first in range(101, MANY, 1700):
            it.view.append(flood(first, 1700))
            await it.pilot.pause()
        last = it.view._queue[-1]["seq_no"] if it.view._queue else it.view.rows.last
        await over(it, last)
        assert it.view.following
        assert it.view.scroll_y == it.view.max_scroll_y == it.view.rows.height - it.view.size.height
        assert f"word {last}." in it.screen[-1]
        assert it.app.behind == []
        assert gaps(it.view) == []


@pytest.mark.parametrize(
    "act", [lambda view: view.action_page(-1), lambda view: view.action_move(-1), FeedView.action_start]
)
async def test_who_scrolls_up_in_a_flood_reads_on_where_they_are(act: Callable[[FeedView], None]) -> None:
    async with stage(flood(count=3000)) as it:
        await begun(it, flood(3001))
        act(it.view)
        assert not it.view.following
        read = it.screen
        await over(it, 3000 + MANY)
        assert it.screen[:-1] == read[:-1]
        assert it.screen[-1].endswith("new ↓")
        await it.press("G")
        assert f"word {3000 + MANY}." in it.screen[-1]


async def test_what_is_below_the_screen_is_counted_from_where_one_left_the_end() -> None:
    async with stage(flood(count=3000)) as it:
        await begun(it, flood(3001))
        shown = it.screen[-1]
        it.view.action_page(-1)
        await over(it, 3000 + MANY)
        at = int(shown.rpartition("word ")[2].rstrip(". "))
        assert it.view.behind == 3000 + MANY - at


async def test_a_row_that_is_clicked_or_opened_in_a_flood_stays_in_its_place() -> None:
    async with stage(flood(count=3000)) as it:
        await begun(it, flood(3001))
        await it.pilot.click(FeedView, offset=(40, 10))
        chosen = it.screen[10]
        assert chosen.startswith("▌")
        await over(it, 3000 + MANY)
        assert it.screen[10] == chosen
        await it.press("enter")
        await it.until(lambda: "message.assistant" in it.text)
        assert it.screen[10] == chosen


async def test_a_search_in_a_flood_finds_and_stays_there() -> None:
    async with stage(flood(count=3000)) as it:
        await begun(it, flood(3001))
        it.view.search("word 2995.")
        while it.view.cursor is None:
            await asyncio.sleep(0)
        found = it.screen
        await over(it, 3000 + MANY)
        assert it.view.cursor == 2995
        assert it.screen[:-1] == found[:-1]
        assert "word 2995." in it.view.copy_text()


async def test_a_flood_of_turns_leaves_no_call_without_its_result() -> None:
    log = list(turns(8000))
    async with stage(log[:100]) as it:
        it.view.append(log[100:])
        await over(it, 8000)
        assert gaps(it.view) == []
        assert it.view.scroll_y == it.view.max_scroll_y


async def test_a_machine_too_busy_for_any_timer_stops_no_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quarterdeck.surfaces.tui.feed.canvas.BREATH_SECONDS", 1e-9)
    async with stage(flood(count=100)) as it:
        it.view.append(flood(101))
        await over(it, 100 + MANY)
        assert it.view.scroll_y == it.view.max_scroll_y
