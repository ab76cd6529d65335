"""A feed without rows teaches; one that looks far back says so, goes on when asked, and stops when told."""

from __future__ import annotations

from typing import Any

from textual import events

from quarterdeck.surfaces.tui.feed.empty_state import Blank
from quarterdeck.surfaces.tui.feed.reader import PAGES_UNASKED
from quarterdeck.surfaces.tui.feed.rows.filter import Wanted
from quarterdeck.surfaces.tui.feed.source import PAGE, FeedSource
from tests.support.feed import Book, Log, turns
from tests.unit.surfaces.feed.test_flood import flood
from tests.unit.surfaces.feed.test_view import HeldLog, stage

TODOS = Wanted(kinds=frozenset({"todo"}), level="warn")
FAR = PAGE * (PAGES_UNASKED + 10)


def test_every_reason_for_an_empty_feed_has_its_sentence() -> None:
    said = {
        blank.words()
        for blank in (
            Blank(),
            Blank(reading=True),
            Blank(unread=True),
            Blank(narrowed="kind=todo"),
            Blank(narrowed="kind=todo", first=9, paused=True),
            Blank(cleared=True),
            Blank(one_session=True),
        )
    }
    assert len(said) == 7
    assert "Nothing matches kind=todo; f changes it, ^r takes it away" in said


def test_a_filter_is_told_as_it_is_typed() -> None:
    assert TODOS.words == "kind=todo level=warn"
    assert Wanted(tools=frozenset({"Bash", "Agent"}), actors=frozenset({"user"})).words == "tool=Agent,Bash actor=user"
    assert Wanted().words == ""


async def test_an_empty_log_says_what_will_be_here() -> None:
    async with stage([]) as it:
        await it.until(lambda: "Nothing yet: what agents do shows here" in it.screen[0])
        it.view.append(Book().says("Hello.").events)
        await it.until(lambda: "Hello." in it.screen[0])
        assert "Nothing yet" not in it.text


async def test_a_session_without_events_and_a_filter_without_matches_say_so() -> None:
    async with stage(list(turns(100))) as it:
        it.view.set_filter(TODOS)
        await it.until(lambda: "Nothing matches kind=todo level=warn; f changes it" in it.screen[0])
        it.view.set_filter(Wanted())
        it.view.follow("nobody")
        await it.until(lambda: "Nothing yet of this session" in it.screen[0])


async def test_a_log_that_cannot_be_read_is_not_called_empty() -> None:
    async with stage(list(turns(100))) as it:
        it.app.log_of_events.away = True
        it.view.follow(None)
        await it.until(lambda: "The log could not be read" in it.screen[0])


async def test_on_a_small_screen_the_words_are_wrapped() -> None:
    async with stage([], (30, 8)) as it:
        await it.until(lambda: it.screen[:2] == [" Nothing yet: what agents do", " shows here as it happens"])


async def test_looking_back_pauses_with_a_word_and_goes_on_by_key() -> None:
    log = flood(count=FAR)
    log[0] = Book().add("todo.add", {"text": "long ago"}, level="warn")
    for keys in (("up",), ("pageup",), ("g",)):
        async with stage(log) as it:
            it.view.set_filter(TODOS)
            await it.until(lambda: it.view.is_paused)
            first = it.view.rows.first
            assert f"looked back to #{first}, ↑ looks further" in it.text
            assert it.view.telling == f"looked back to #{first}, ↑ looks further"
            await it.press(*keys)
            await it.until(lambda: it.view.rows.first == 1 and it.view.rows.height)
            await it.until(lambda: it.view.telling == "")


async def test_the_wheel_looks_further_too() -> None:
    async with stage(flood(count=FAR)) as it:
        it.view.set_filter(TODOS)
        await it.until(lambda: it.view.is_paused)
        event = events.MouseScrollUp(it.view, 1, 1, 0, -1, 0, False, False, False)
        it.view.post_message(event)
        await it.until(lambda: it.view.rows.first == 1)


async def test_a_search_far_back_says_where_it_is_and_stops_when_told() -> None:
    async with stage(list(turns(600))) as it:
        it.view.source = FeedSource((log := HeldLog(list(turns(600)), "before")).get)
        it.view.search("zebra")
        await it.until(log.read.is_set)
        assert it.view.telling == "searching … #601"
        assert it.view.stop()
        await it.until(lambda: not it.view.telling)
        assert it.app.words == ["searching stopped at #601"]
        log.answers.set()
        assert not it.view.stop()
        assert it.view.following


class StuckLog(HeldLog):
    """Answers three times, then no more until it may."""

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return super().get(path, **query) if self.asked >= 3 else Log.get(self, path, **query)


async def test_looking_back_stops_when_told() -> None:
    async with stage(flood(count=FAR)) as it:
        it.view.source = FeedSource((log := StuckLog(flood(count=FAR))).get)
        it.view.set_filter(TODOS)
        await it.until(log.read.is_set)
        first = it.view.rows.first
        assert it.view.telling == f"looking back … #{first}"
        assert f"Looking for kind=todo level=warn … #{first}" in it.screen[0]
        assert it.view.stop()
        log.answers.set()
        await it.until(lambda: it.view.is_paused)
        assert 1 < it.view.rows.first < first
