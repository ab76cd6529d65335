"""The hub's side of the link: one registration, contiguous events, acks of what is stored, and nothing else."""

from __future__ import annotations

import pytest

from quarterdeck.link.actions import (
    ClaimIdentity,
    CloseLink,
    CompareEvents,
    HandleMessage,
    HubAction,
    SendMessage,
    StoreEvents,
)
from quarterdeck.link.hub_link import MOST_EVENTS, HubLink
from quarterdeck.link.messages import (
    HEARTBEAT_DEAD,
    REFUSED,
    BackfillAck,
    BackfillMessage,
    EventAck,
    EventsMessage,
    HubPing,
    HubPong,
    LinkSettings,
    RefusalMessage,
    RegisteredMessage,
    RegisterMessage,
    RunnerPing,
    RunnerPong,
    ViewMessage,
)
from tests.support.link_schedule import event_of, gap_of

REGISTER = RegisterMessage(runner_id="r1", name="box", seq_no=10)


def hub_link(*, stored: int = 0) -> HubLink:
    link = HubLink("r1", LinkSettings(), 0.0)
    link.receive(REGISTER)
    link.accept(stored, "", 1, 0.0, [])
    return link


def refusal(actions: list[HubAction]) -> str:
    send, close = actions
    assert isinstance(send, SendMessage)
    assert isinstance(send.message, RefusalMessage)
    assert isinstance(close, CloseLink)
    assert close.code == REFUSED
    return send.message.kind


def test_a_registration_is_claimed_and_accepted() -> None:
    link = HubLink("r1", LinkSettings(), 0.0)
    assert link.receive(REGISTER) == [ClaimIdentity(REGISTER)]
    [send] = link.accept(4, "h4", 7, 12.5, ["s1"])
    assert send == SendMessage(
        RegisteredMessage(last_seq_no=4, last_hash="h4", epoch=7, at=12.5, assigned_sessions=["s1"])
    )
    assert link.backlog == 6


@pytest.mark.law("H5")
def test_the_identity_is_that_of_the_credential() -> None:
    assert refusal(HubLink("r2", LinkSettings(), 0.0).receive(REGISTER)) == "unknown_runner"


def test_a_credential_that_was_never_used_takes_the_first_identity() -> None:
    link = HubLink(None, LinkSettings(), 0.0)
    assert link.receive(REGISTER) == [ClaimIdentity(REGISTER)]
    assert link.runner_id == "r1"


def test_another_protocol_is_refused() -> None:
    other = RegisterMessage(runner_id="r1", name="box", seq_no=0, protocol=2)
    assert refusal(HubLink("r1", LinkSettings(), 0.0).receive(other)) == "protocol"


def test_the_first_message_registers_and_only_the_first() -> None:
    assert refusal(HubLink("r1", LinkSettings(), 0.0).receive(ViewMessage())) == "protocol"
    assert refusal(hub_link().receive(REGISTER)) == "protocol"


@pytest.mark.law("H2")
def test_only_what_is_stored_is_acknowledged() -> None:
    link = hub_link()
    [store] = link.receive(BackfillMessage(events=[event_of(1), event_of(2), event_of(3)]))
    assert store == StoreEvents([event_of(1), event_of(2), event_of(3)])
    assert link.store(2) == [SendMessage(BackfillAck(last_seq_no=2))]
    assert link.store(4) == []
    assert link.store(1) == []


@pytest.mark.law("H4")
def test_backfill_and_live_are_one_stream() -> None:
    link = hub_link(stored=9)
    link.receive(BackfillMessage(events=[event_of(10)]))
    assert link.receive(EventsMessage(events=[event_of(11)])) == [StoreEvents([event_of(11)])]
    assert link.store(10) == [SendMessage(BackfillAck(last_seq_no=10))]
    assert link.store(11) == [SendMessage(EventAck(last_seq_no=11))]


@pytest.mark.law("H2")
@pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 2, 2, 4]])
def test_a_hole_is_refused(numbers: list[int]) -> None:
    assert refusal(hub_link().receive(EventsMessage(events=[event_of(n) for n in numbers]))) == "protocol"


@pytest.mark.law("H1")
def test_events_that_came_before_are_compared_and_not_stored_again() -> None:
    link = hub_link(stored=4)
    actions = link.receive(BackfillMessage(events=[event_of(3), event_of(4), event_of(5)]))
    assert actions == [CompareEvents([event_of(3), event_of(4)]), StoreEvents([event_of(5)])]
    assert link.receive(BackfillMessage(events=[event_of(5)])) == [CompareEvents([event_of(5)])]


@pytest.mark.law("H14")
def test_a_gap_stands_for_its_numbers() -> None:
    link = hub_link(stored=4)
    assert link.receive(BackfillMessage(events=[gap_of(5, 7), event_of(8)])) == [
        StoreEvents([gap_of(5, 7), event_of(8)])
    ]
    assert refusal(hub_link(stored=4).receive(BackfillMessage(events=[gap_of(4, 7)]))) == "protocol"
    assert refusal(hub_link(stored=4).receive(BackfillMessage(events=[gap_of(9, 7)]))) == "protocol"


def test_a_huge_batch_is_refused() -> None:
    events = [event_of(n) for n in range(1, MOST_EVENTS + 2)]
    assert refusal(hub_link().receive(BackfillMessage(events=events))) == "protocol"


def test_other_messages_are_handed_on() -> None:
    assert hub_link().receive(ViewMessage(snapshot=True)) == [HandleMessage(ViewMessage(snapshot=True))]


def test_nothing_counts_after_the_end() -> None:
    link = hub_link()
    link.receive(EventsMessage(events=[event_of(1)]))
    link.close()
    assert link.receive(EventsMessage(events=[event_of(2)])) == []
    assert link.store(1) == []
    assert link.tick(1000.0) == []


def test_heartbeats_are_answered_and_silence_closes() -> None:
    link = hub_link()
    assert link.receive(RunnerPing()) == [SendMessage(HubPong())]
    assert link.tick(15.0) == [SendMessage(HubPing())]
    assert link.receive(RunnerPong()) == []
    assert [link.tick(now) for now in (30.0, 45.0)] == [[SendMessage(HubPing())]] * 2
    [close] = link.tick(60.0)
    assert isinstance(close, CloseLink)
    assert close.code == HEARTBEAT_DEAD


def test_a_connection_without_a_registration_is_closed() -> None:
    link = HubLink("r1", LinkSettings(), 0.0)
    assert link.tick(9.0) == []
    assert refusal(link.tick(10.0)) == "protocol"
