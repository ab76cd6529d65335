"""The runner's side of the link, alone and against the hub's side: whatever the line does, every event arrives once in
effect and in order."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quarterdeck.link.actions import CloseLink, HandleMessage, SaveCursor, SendMessage
from quarterdeck.link.backoff import Backoff
from quarterdeck.link.messages import (
    HEARTBEAT_DEAD,
    BackfillAck,
    BackfillMessage,
    EventAck,
    EventsMessage,
    HubPing,
    HubPong,
    LinkEvent,
    LinkSettings,
    RefusalMessage,
    RegisteredMessage,
    RegisterMessage,
    RemoteQuery,
    RunnerPing,
    RunnerPong,
)
from quarterdeck.link.runner_link import WINDOW_BATCHES, LinkState, RowRange, RunnerLink
from tests.support.link_schedule import Story, event_of, gap_of, hash_of

SCHEDULES = int(os.environ.get("QD_LINK_SCHEDULES", "1500"))


def opened(*, last: int = 10, cursor: int = 0) -> RunnerLink:
    link = RunnerLink(cursor, Backoff(1.0, 30.0))
    link.connect(0.0)
    link.open(RegisterMessage(runner_id="r", name="box", seq_no=last), 0.0)
    return link


def registered(*, last: int = 10, stored: int = 0, batch: int = 4, last_hash: str = "") -> RunnerLink:
    link = opened(last=last)
    config = LinkSettings(batch_size=batch)
    link.receive(RegisteredMessage(last_seq_no=stored, last_hash=last_hash, epoch=1, at=0.0, config=config), 0.0)
    return link


def rows(span: RowRange | None, last: int) -> list[LinkEvent]:
    assert span is not None
    return [event_of(n) for n in range(span.after + 1, min(last, span.after + span.limit) + 1)]


def numbers(message: BackfillMessage | EventsMessage | None) -> list[int]:
    assert message is not None
    return [event.seq_no for event in message.events]


def test_the_link_goes_from_the_first_attempt_to_ready() -> None:
    link = RunnerLink(0, Backoff(1.0, 30.0))
    states = [link.state]
    link.connect(0.0)
    states.append(link.state)
    register = RegisterMessage(runner_id="r", name="box", seq_no=2)
    assert link.open(register, 0.0) == [SendMessage(register)]
    states.append(link.state)
    answer = RegisteredMessage(last_seq_no=0, epoch=1, at=0.0)
    assert link.receive(answer, 0.0) == [SaveCursor(0), HandleMessage(answer)]
    states.append(link.state)
    message = link.batch(rows(link.next_range(2), 2), 0, gap_of)
    assert isinstance(message, BackfillMessage)
    assert link.receive(BackfillAck(last_seq_no=2), 0.0) == [SaveCursor(2)]
    assert [*states, link.state] == list(LinkState)
    assert isinstance(link.batch(rows(link.next_range(3), 3), 0, gap_of), EventsMessage)


def test_a_hub_that_has_everything_makes_the_link_ready_at_once() -> None:
    assert registered(last=10, stored=10).state is LinkState.READY


@pytest.mark.law("H2")
def test_events_go_in_order_in_batches_and_only_so_many_at_a_time() -> None:
    link = registered(last=1000, batch=4)
    sent: list[int] = []
    while (span := link.next_range(1000)) is not None:
        sent += numbers(link.batch(rows(span, 1000), 0, gap_of))
    assert sent == list(range(1, 4 * WINDOW_BATCHES + 1))
    link.receive(BackfillAck(last_seq_no=4), 0.0)
    assert link.next_range(1000) == RowRange(sent[-1], 4)


@pytest.mark.law("H3")
@pytest.mark.parametrize("ack", [BackfillAck(last_seq_no=5), EventAck(last_seq_no=11)])
def test_an_ack_of_what_was_never_sent_closes_the_link_and_moves_nothing(ack: BackfillAck | EventAck) -> None:
    link = registered(last=10, batch=4)
    link.batch(rows(link.next_range(10), 10), 0, gap_of)
    [close] = link.receive(ack, 0.0)
    assert isinstance(close, CloseLink)
    assert link.cursor == 0
    assert link.trouble is not None
    assert "acknowledged" in link.trouble[1]
    assert link.receive(BackfillAck(last_seq_no=4), 0.0) == []


def test_an_ack_that_comes_again_changes_nothing() -> None:
    link = registered(last=10, batch=4)
    link.batch(rows(link.next_range(10), 10), 0, gap_of)
    assert link.receive(BackfillAck(last_seq_no=4), 0.0) == [SaveCursor(4)]
    assert link.receive(BackfillAck(last_seq_no=3), 0.0) == []


@pytest.mark.law("H2")
def test_a_hub_that_has_less_than_the_cursor_rewinds_it() -> None:
    link = opened(last=10, cursor=8)
    actions = link.receive(RegisteredMessage(last_seq_no=3, epoch=1, at=0.0), 0.0)
    assert actions[0] == SaveCursor(3)
    assert link.next_range(10) == RowRange(3, 100)


@pytest.mark.law("H14")
def test_trimmed_events_are_one_gap_with_its_bounds() -> None:
    link = registered(last=10, stored=2)
    message = link.batch([event_of(n) for n in range(6, 11)], 5, gap_of)
    assert message is not None
    assert [(e.begins, e.seq_no) for e in message.events] == [(3, 5), (6, 6), (7, 7), (8, 8), (9, 9), (10, 10)]


def test_a_log_of_which_nothing_is_left_is_one_gap() -> None:
    link = registered(last=10)
    message = link.batch([], 10, gap_of)
    assert message is not None
    assert [(e.begins, e.seq_no) for e in message.events] == [(1, 10)]


def test_a_hole_in_the_log_is_never_sent() -> None:
    with pytest.raises(ValueError, match="event 1 is missing"):
        registered(last=10).batch([event_of(2)], 0, gap_of)


def test_the_last_event_of_the_hub_is_compared_and_not_sent_again() -> None:
    link = registered(last=10, stored=4, last_hash=hash_of(4))
    span = link.next_range(10)
    assert span == RowRange(3, 4)
    assert numbers(link.batch(rows(span, 10), 0, gap_of)) == [5, 6, 7]


def test_a_hub_with_the_same_last_event_gets_nothing_more() -> None:
    link = registered(last=4, stored=4, last_hash=hash_of(4))
    assert link.batch(rows(link.next_range(4), 4), 0, gap_of) is None
    assert link.next_range(4) is None


def test_another_event_under_the_last_number_is_shown_to_the_hub_and_ends_the_stream() -> None:
    link = registered(last=10, stored=4, last_hash="another")
    assert numbers(link.batch(rows(link.next_range(10), 10), 0, gap_of)) == [4]
    assert link.next_range(10) is None
    assert link.trouble is not None
    assert link.trouble[0] == "conflict"


def test_a_trimmed_last_event_is_not_compared() -> None:
    link = registered(last=10, stored=4, last_hash="another")
    message = link.batch([event_of(8), event_of(9)], 7, gap_of)
    assert message is not None
    assert [(e.begins, e.seq_no) for e in message.events] == [(5, 7), (8, 8), (9, 9)]


def test_a_hub_that_knows_the_future_is_refused() -> None:
    link = opened(last=10)
    [close] = link.receive(RegisteredMessage(last_seq_no=11, epoch=1, at=0.0), 0.0)
    assert isinstance(close, CloseLink)
    assert link.trouble is not None
    assert link.trouble[0] == "conflict"


@pytest.mark.parametrize(
    "message",
    [RegisteredMessage(last_seq_no=-1, epoch=1, at=0.0), RegisteredMessage(last_seq_no=0, epoch=0, at=0.0)],
)
def test_impossible_numbers_close_the_link(message: RegisteredMessage) -> None:
    [close] = opened().receive(message, 0.0)
    assert isinstance(close, CloseLink)


def test_nothing_counts_before_the_registration() -> None:
    [close] = opened().receive(EventAck(last_seq_no=0), 0.0)
    assert isinstance(close, CloseLink)
    [close] = opened().receive(RemoteQuery(id="q", name="get_health", actor="Ada", scope="observe"), 0.0)
    assert isinstance(close, CloseLink)


def test_a_second_registration_closes_the_link() -> None:
    [close] = registered().receive(RegisteredMessage(last_seq_no=0, epoch=2, at=0.0), 0.0)
    assert isinstance(close, CloseLink)


def test_pings_are_answered_and_silence_closes_with_4000() -> None:
    link = registered()
    assert link.receive(HubPing(), 1.0) == [SendMessage(RunnerPong())]
    assert link.tick(15.0) == [SendMessage(RunnerPing())]
    assert link.receive(HubPong(), 16.0) == []
    assert link.tick(30.0) == [SendMessage(RunnerPing())]
    assert link.tick(45.0) == [SendMessage(RunnerPing())]
    [close] = link.tick(60.0)
    assert close == CloseLink(HEARTBEAT_DEAD, "the hub did not answer two heartbeats")


def test_a_hub_that_never_registers_is_left() -> None:
    link = opened()
    for now in (15.0, 29.0):
        link.receive(HubPong(), now)
        assert not any(isinstance(a, CloseLink) for a in link.tick(now))
    [close] = link.tick(30.0)
    assert isinstance(close, CloseLink)


@pytest.mark.law("H12")
def test_a_refusal_is_shown_and_its_wait_is_kept() -> None:
    link = opened()
    link.receive(RefusalMessage(kind="busy", message="come back later", retry_after=60.0), 1.0)
    link.close(1.0, 0.0)
    assert link.trouble == ("busy", "come back later")
    assert link.connect_at == 61.0


@pytest.mark.law("H12")
def test_only_a_link_that_was_ready_for_thirty_seconds_begins_with_short_waits_again() -> None:
    link = RunnerLink(0, Backoff(1.0, 30.0))
    waits = []
    for ready_seconds in (0.0, 29.0, 31.0):
        link.connect(0.0)
        link.open(RegisterMessage(runner_id="r", name="box", seq_no=0), 0.0)
        link.receive(RegisteredMessage(last_seq_no=0, epoch=1, at=0.0), 0.0)
        link.close(ready_seconds, 1.0)
        waits.append(link.connect_at - ready_seconds)
    assert waits == [1.0, 2.0, 1.0]


@pytest.mark.law("H13")
@pytest.mark.parametrize("skew", [-86_400.0, 0.0, 86_400.0])
def test_the_hub_clock_is_known_with_any_clock_here(skew: float) -> None:
    link = opened()
    link.receive(RegisteredMessage(last_seq_no=0, epoch=1, at=1000.0 + skew), 5.0)
    assert link.hub_time(7.0) == 1002.0 + skew


def test_a_failed_attempt_says_why() -> None:
    link = RunnerLink(0, Backoff(1.0, 30.0))
    link.connect(0.0)
    link.close(0.0, 0.5, ("unreachable", "connection refused"))
    assert link.trouble == ("unreachable", "connection refused")
    assert link.connect_at == 0.5


schedules = st.binary(min_size=50, max_size=80)


@pytest.mark.law("H1")
@pytest.mark.law("H2")
@pytest.mark.law("H4")
@pytest.mark.law("H6")
@pytest.mark.law("H13")
@settings(max_examples=SCHEDULES)
@given(schedules)
@example(b"")
def test_whatever_the_line_does_every_event_arrives_once_and_in_order(schedule: bytes) -> None:
    story = Story()
    story.play(schedule)
    story.settle()
    assert [event.begins for event in story.stored] == [1, *(event.seq_no + 1 for event in story.stored[:-1])]
    assert story.stored[-1].seq_no == story.last
    assert all(event.hash == hash_of(event.seq_no) for event in story.stored if event.first is None)
    gaps = [event for event in story.stored if event.first is not None]
    assert all(event.seq_no <= story.trimmed for event in gaps)
    assert story.was_restored or not gaps
    assert story.conflicts == []
    assert story.epochs_given == sorted(set(story.epochs_given))
