"""Counting events: in parts as at once, and every sum as a plain count over the events finds it."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.model.event_data.session_data import MessageUsage, SessionUsageData
from quarterdeck.core.model.events import OWN, FeedEvent
from quarterdeck.views.counts.tally import COUNTED_KINDS, MOST_TOKENS, CountLedger, CountTally, count_events
from tests.support.examples import examples
from tests.support.random_story import Story, stories
from tests.support.scene import Scene

TYPES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def day_of(at: float) -> int:
    return int(at // 86400)


def count(events: list[FeedEvent]) -> CountTally:
    return count_events(events, CountLedger(), day_of)


def sums(tally: CountTally) -> Counter[tuple[str, tuple[str, ...]]]:
    """The amounts of each metric by its own groups, over all hours and folders."""
    found: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for key, amount in tally.hours.items():
        found[key.metric, key.labels[:-1]] += amount
    return found


def of(tally: CountTally, metric: str) -> dict[tuple[str, ...], int]:
    return {labels: amount for (name, labels), amount in sums(tally).items() if name == metric and amount}


def plain_tools(events: list[FeedEvent]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    found.update((e.data.tool_name, "ok") for e in events if e.kind == "tool.post")
    failures = [e.data for e in events if e.kind == "tool.failure"]
    found.update((data.tool_name, "interrupted" if data.is_interrupt else "failed") for data in failures)
    found.update((e.data.tool_name, "denied") for e in events if e.kind == "permission.denied")
    return found


def plain_tokens(events: list[FeedEvent]) -> int:
    """All tokens by the last report of each message."""
    last = {(e.session_id, m.message_id): m for e in events if e.kind == "session.usage" for m in e.data.spent}
    return sum(min(getattr(message, name), MOST_TOKENS) for message in last.values() for name in TYPES)


@given(stories())
@examples(2)
def test_the_sums_are_those_of_a_plain_count(story: Story) -> None:
    events = [e for e in story.events if e.session_id != OWN]
    tally = count(story.events)
    assert of(tally, "tools") == plain_tools(events)
    assert sum(of(tally, "prompts").values()) == sum(e.kind == "user.prompt" for e in events)
    assert sum(of(tally, "sessions").values()) == len({e.session_id for e in events})
    assert sum(of(tally, "tokens").values()) == plain_tokens(events)
    ends = [r for _, _, result in story.results for r in result.requests.values() if r.status != "pending"]
    assert sum(of(tally, "requests").values()) >= len({r.request_id for r in ends})


@given(stories(), st.lists(st.integers(1, 9), max_size=40))
@examples(2)
def test_counting_in_parts_is_counting_at_once(story: Story, lengths: list[int]) -> None:
    ledger, whole = CountLedger(), count(story.events)
    hours: Counter[object] = Counter()
    days: Counter[object] = Counter()
    rest = story.events
    for length in [*lengths, len(story.events)]:
        part, rest = rest[:length], rest[length:]
        tally = count_events(part, ledger, day_of)
        hours.update(tally.hours)
        days.update(tally.days)
    assert {key: n for key, n in hours.items() if n} == {key: n for key, n in whole.hours.items() if n}
    assert {key: n for key, n in days.items() if n} == {key: n for key, n in whole.days.items() if n}


@given(stories())
def test_hours_and_days_have_the_same_sums(story: Story) -> None:
    tally = count(story.events)
    by_hour: Counter[tuple[str, int]] = Counter()
    for key, amount in tally.hours.items():
        by_hour[key.metric, max(0, key.bucket // 24)] += amount
    by_day: Counter[tuple[str, int]] = Counter()
    for key, amount in tally.days.items():
        by_day[key.metric, max(0, key.bucket)] += amount
    assert +by_hour == +by_day


@given(stories())
def test_events_of_other_kinds_count_only_the_session(story: Story) -> None:
    """The reader of the log leaves them out, unless they say where a session is."""
    firsts = {e.session_id: e.seq_no for e in reversed(story.events)}.values()
    matters = [e for e in story.events if e.kind in COUNTED_KINDS or e.context is not None or e.seq_no in firsts]
    assert count(matters) == count(story.events)


def usage(*spent: MessageUsage) -> FeedEvent:
    scene = Scene()
    scene.receives("UserPromptSubmit", prompt="go")
    event = scene.events[-1]
    return FeedEvent(
        **{name: getattr(event, name) for name in event.__struct_fields__ if name not in ("kind", "data")},
        kind="session.usage",
        data=SessionUsageData(offset=1, spent=list(spent)),
    )


def test_a_later_report_of_a_message_replaces_the_earlier_one() -> None:
    first = usage(MessageUsage(message_id="m", model="opus", input_tokens=10, cost_usd=1.0))
    later = usage(MessageUsage(message_id="m", model="opus", input_tokens=7, cost_usd=0.5))
    assert of(count([first, later]), "tokens") == {("input", "opus"): 7}
    assert of(count([first, later]), "cost_usd") == {("opus",): 500_000_000}
    assert of(count([first, later, later, later]), "tokens") == {("input", "opus"): 7}


def test_a_message_without_a_known_price_is_counted_as_such() -> None:
    tally = count([usage(MessageUsage(message_id="m", model="new", output_tokens=3))])
    assert of(tally, "unpriced_messages") == {("new",): 1}
    assert of(tally, "cost_usd") == {}


def test_a_claim_of_too_many_tokens_is_bounded() -> None:
    tally = count([usage(MessageUsage(message_id="m", input_tokens=10**30, cost_usd=1e300))])
    assert of(tally, "tokens") == {("input", ""): MOST_TOKENS}
    assert of(tally, "cost_usd") == {("",): 10**15}
