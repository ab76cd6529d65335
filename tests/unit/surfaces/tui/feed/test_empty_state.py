"""A feed without rows says why; one that reads far back shows its progress, goes on with a key, and can be stopped."""

from __future__ import annotations

from typing import Any

from textual import events

from quarterdeck.surfaces.tui.feed.empty_state import EmptyState
from quarterdeck.surfaces.tui.feed.log_reader import AUTO_PAGES
from quarterdeck.surfaces.tui.feed.rows.filter import FeedFilter
from quarterdeck.surfaces.tui.feed.source import PAGE, FeedSource
from tests.support.feed import EventStory, FeedLog, turns
from tests.unit.surfaces.tui.feed.test_view import HeldLog, stage
from tests.unit.surfaces.tui.feed.test_view_flood import flood

TODOS = FeedFilter(kinds=frozenset({"todo"}), level="warn")
FAR = PAGE * (AUTO_PAGES + 10)


def test_every_reason_for_an_empty_feed_has_its_sentence() -> None:
    sentences = {
        state.text()
        for state in (
            EmptyState(),
            EmptyState(reading=True),
            EmptyState(read_failed=True),
            EmptyState(filter_text="kind=todo"),
            EmptyState(filter_text="kind=todo", first=9, paused=True),
            EmptyState(cleared=True),
            EmptyState(one_session=True),
        )
    }
    assert len(sentences) == 7
    assert "Nothing matches kind=todo; f changes the filter, ^r removes it" in sentences


def test_a_filter_is_shown_as_it_is_typed() -> None:
    assert TODOS.text == "kind=todo level=warn"
    assert (
        FeedFilter(tools=frozenset({"Bash", "Agent"}), actors=frozenset({"user"})).text == "tool=Agent,Bash actor=user"
    )
    assert FeedFilter().text == ""


async def test_an_empty_log_says_what_will_show_here() -> None:
    async with stage([]) as it:
        await it.until(lambda: "Nothing yet: what agents do shows here" in it.screen[0])
        it.view.append(EventStory().says("Hello.").events)
        await it.until(lambda: "Hello." in it.screen[0])
        assert "Nothing yet" not in it.text


async def test_a_session_without_events_and_a_filter_without_matches_say_so() -> None:
    async with stage(list(turns(100))) as it:
        it.view.set_filter(TODOS)
        await it.until(lambda: "Nothing matches kind=todo level=warn; f changes the filter" in it.screen[0])
        it.view.set_filter(FeedFilter())
        it.view.follow("nobody")
        await it.until(lambda: "Nothing yet from this session" in it.screen[0])


async def test_a_log_that_cannot_be_read_is_not_called_empty() -> None:
    async with stage(list(turns(100))) as it:
        it.app.log_of_events.is_away = True
        it.view.follow(None)
        await it.until(lambda: "The log could not be read" in it.screen[0])


async def test_on_a_small_screen_the_text_is_wrapped() -> None:
    async with stage([], (30, 8)) as it:
        await it.until(lambda: it.screen[:2] == [" Nothing yet: what agents do", " shows here as it happens"])


async def test_reading_back_pauses_says_so_and_goes_on_with_a_key() -> None:
    log = flood(count=FAR)
    log[0] = EventStory().add("todo.add", {"text": "long ago"}, level="warn")
    for keys in (("up",), ("pageup",), ("g",)):
        async with stage(log) as it:
            it.view.set_filter(TODOS)
            await it.until(lambda: it.view.is_paused)
            first = it.view.rows.first
            assert f"read back to #{first}, ↑ reads on" in it.text
            assert it.view.progress == f"read back to #{first}, ↑ reads on"
            await it.press(*keys)
            await it.until(lambda: it.view.rows.first == 1 and it.view.rows.height)
            await it.until(lambda: it.view.progress == "")


async def test_the_mouse_wheel_also_reads_on() -> None:
    async with stage(flood(count=FAR)) as it:
        it.view.set_filter(TODOS)
        await it.until(lambda: it.view.is_paused)
        event = events.MouseScrollUp(it.view, 1, 1, 0, -1, 0, False, False, False)
        it.view.post_message(event)
        await it.until(lambda: it.view.rows.first == 1)


async def test_a_search_far_back_shows_its_position_and_can_be_stopped() -> None:
    async with stage(list(turns(600))) as it:
        it.view.source = FeedSource((log := HeldLog(list(turns(600)), "before")).get)
        it.view.search("zebra")
        await it.until(log.read.is_set)
        assert it.view.progress == "searching … #601"
        assert it.view.stop()
        await it.until(lambda: not it.view.progress)
        assert it.app.words == ["searching stopped at #601"]
        log.answers.set()
        assert not it.view.stop()
        assert it.view.following


class StuckLog(HeldLog):
    """A log that answers three times, then only once `answers` is set."""

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return super().get(path, **query) if self.calls >= 3 else FeedLog.get(self, path, **query)


async def test_reading_back_can_be_stopped() -> None:
    async with stage(flood(count=FAR)) as it:
        it.view.source = FeedSource((log := StuckLog(flood(count=FAR))).get)
        it.view.set_filter(TODOS)
        await it.until(log.read.is_set)
        first = it.view.rows.first
        assert it.view.progress == f"reading back … #{first}"
        assert f"Looking for kind=todo level=warn … #{first}" in it.screen[0]
        assert it.view.stop()
        log.answers.set()
        await it.until(lambda: it.view.is_paused)
        assert 1 < it.view.rows.first < first
