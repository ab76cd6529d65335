"""The source: pages by position, single events by number, and bounded memory."""

from __future__ import annotations

from quarterdeck.surfaces.tui.feed.source import FeedSource, weight
from tests.support.feed import FeedLog, turns
from tests.support.hostile import HUGE


async def test_pages_are_read_from_the_end_and_onwards() -> None:
    source = FeedSource(FeedLog(list(turns(1000))).get)
    page = await source.before(None, limit=10)
    assert [event["seq_no"] for event in page.events] == list(range(991, 1001))
    page = await source.before(991, limit=10)
    assert [event["seq_no"] for event in page.events] == list(range(981, 991))
    page = await source.after(981, limit=10)
    assert ([event["seq_no"] for event in page.events], page.more) == (list(range(982, 992)), True)
    assert not (await source.after(995, limit=10)).more


async def test_an_event_is_fetched_once_and_then_cached() -> None:
    log = FeedLog(list(turns(100)))
    source = FeedSource(log.get)
    assert source.cached(7) is None
    assert (await source.event(7) or {})["seq_no"] == 7
    assert (await source.event(7) or {})["seq_no"] == 7
    assert log.calls == 1


async def test_an_event_that_has_left_the_log_or_cannot_be_read_is_none() -> None:
    log = FeedLog(list(turns(100))[50:])
    source = FeedSource(log.get)
    assert await source.event(7) is None
    log.is_away = True
    assert await source.event(60) is None


def test_the_cache_is_bounded_in_events_and_characters() -> None:
    source = FeedSource(FeedLog([]).get, events=10, chars=5_000_000)
    events = list(turns(50))
    source.keep(events)
    assert [n for n in range(1, 51) if source.cached(n)] == list(range(41, 51))
    source.keep([{**events[0], "seq_no": n, "data": {"text": HUGE[:2_000_000]}} for n in (60, 61, 62)])
    assert [n for n in range(1, 70) if source.cached(n)] == [61, 62]


def test_the_least_recently_used_event_leaves_the_cache_first() -> None:
    source = FeedSource(FeedLog([]).get, events=3)
    events = list(turns(4))
    source.keep(events[:3])
    source.cached(1)
    source.keep(events[3:])
    assert [n for n in range(1, 5) if source.cached(n)] == [1, 3, 4]


def test_the_weight_of_a_value_is_close_to_its_characters() -> None:
    assert weight({"a": "x" * 1000, "b": ["y" * 500, 3]}) // 100 == 16
    assert weight(["x" * 10] * 100_000) >= 1_000_000
