"""The broadcaster: every listener gets every change once and in order, or a gap."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import cast

import pytest

from quarterdeck.api.live.broadcast import USUAL, Broadcaster, BroadcastLimits, joined
from quarterdeck.api.live.live_source import LiveSource
from quarterdeck.core.model.events import FeedEvent

SESSION = "s1"
TOPICS = frozenset({f"streams:{SESSION}"})


class SetTimer:
    """A callback that a clock calls at its time, unless it is cancelled."""

    def __init__(self, at: float, callback: Callable[[], None]) -> None:
        self.at, self.callback, self.is_off = at, callback, False

    def cancel(self) -> None:
        self.is_off = True


class SetClock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._timers: list[SetTimer] = []

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[[], None], /) -> SetTimer:
        return self.call_later(0.0, callback)

    def call_later(self, delay: float, callback: Callable[[], None], /) -> SetTimer:
        self._timers.append(SetTimer(self._now + delay, callback))
        return self._timers[-1]

    def move(self, seconds: float = 0.0) -> None:
        """Let time pass, and call what is due."""
        self._now += seconds
        due = [timer for timer in self._timers if timer.at <= self._now + 1e-9]
        self._timers = [timer for timer in self._timers if timer not in due]
        for timer in due:
            if not timer.is_off:
                timer.callback()


def new_live(limits: BroadcastLimits = USUAL, clock: SetClock | None = None) -> Broadcaster:
    return Broadcaster(cast(LiveSource, None), limits, clock)


def numbers(text: str) -> list[int]:
    """The numbers of the streamed messages in a frame."""
    value = json.loads(text) if text else []
    return [message["data"]["n"] for message in (value if isinstance(value, list) else [value])]


class Listener:
    """A listener that reads at its own speed."""

    def __init__(self, live: Broadcaster, topics: frozenset[str] = TOPICS) -> None:
        self._live, self._topics = live, topics
        self.wake = live.listen(topics)
        self.after = live.head
        self.got: list[int] = []
        self.frames = 0
        self.lost = False

    def read(self) -> None:
        """One frame."""
        frame = self._live.frame(self.after, self._topics)
        if frame is None:
            self.lost = True
            return
        self.frames += frame.upto != self.after
        self.after = frame.upto
        self.got += numbers(frame.text)

    def read_all(self) -> Listener:
        while not self.lost and self.after != self._live.head:
            self.read()
        return self


def say(live: Broadcaster, n: int, size: int = 0, session: str = SESSION) -> None:
    live.stream(session, "message", {"n": n, "fill": "x" * size})


async def test_changes_of_one_moment_are_one_frame() -> None:
    live = new_live()
    listener = Listener(live)
    for n in range(5):
        say(live, n)
    await asyncio.wait_for(listener.wake.wait(), 30)
    assert listener.read_all().got == [0, 1, 2, 3, 4]
    assert listener.frames == 1


def test_the_first_change_of_a_quiet_moment_is_sent_at_once() -> None:
    clock = SetClock()
    live = new_live(clock=clock)
    listener = Listener(live)
    say(live, 0)
    say(live, 1)
    assert not listener.wake.is_set()
    clock.move()
    assert listener.wake.is_set()
    assert (listener.read_all().got, listener.frames) == ([0, 1], 1)


def test_a_few_changes_are_sent_at_once_and_what_follows_is_gathered() -> None:
    clock = SetClock()
    live = new_live(BroadcastLimits(at_once=3, gather_seconds=0.02), clock)
    listener = Listener(live)
    for n in range(6):
        say(live, n)
        clock.move(0.001)
        listener.read_all()
    assert (listener.got, listener.frames) == ([0, 1, 2], 3)
    clock.move(0.02)
    assert (listener.read_all().got, listener.frames) == ([0, 1, 2, 3, 4, 5], 4)


@pytest.mark.law("E14")
def test_a_flood_makes_one_batch_in_each_time_to_gather() -> None:
    clock = SetClock()
    live = new_live(BroadcastLimits(at_once=4, gather_seconds=0.02), clock)
    listener = Listener(live)
    for n in range(1000):
        say(live, n)
        clock.move(0.001)
        listener.read_all()
    assert 50 <= listener.frames <= 50 + 4


def test_after_a_quiet_moment_changes_are_sent_at_once_again() -> None:
    clock = SetClock()
    live = new_live(BroadcastLimits(at_once=1, gather_seconds=0.02), clock)
    listener = Listener(live)
    for n in range(2):
        say(live, n)
        clock.move()
    assert listener.read_all().got == [0]
    clock.move(0.02)
    assert listener.read_all().got == [0, 1]
    clock.move(0.02)
    say(live, 2)
    clock.move()
    assert listener.read_all().got == [0, 1, 2]


def test_the_result_of_a_command_is_gathered_so_that_its_answer_comes_first() -> None:
    clock = SetClock()
    live = new_live(BroadcastLimits(gather_seconds=0.02), clock)
    listener = Listener(live)
    live.changed([], at_once=False)
    live._streams.append((f"streams:{SESSION}", b'{"data":{"n":1}}'))
    clock.move()
    assert not listener.wake.is_set()
    clock.move(0.02)
    assert listener.read_all().got == [1]


def test_what_an_agent_does_meanwhile_is_not_kept_back() -> None:
    clock = SetClock()
    live = new_live(clock=clock)
    listener = Listener(live)
    live.changed([], at_once=False)
    say(live, 1)
    clock.move()
    assert listener.read_all().got == [1]


def test_a_change_that_was_flushed_for_a_new_listener_is_not_sent_twice() -> None:
    clock = SetClock()
    live = new_live(clock=clock)
    early = Listener(live)
    say(live, 0)
    late = Listener(live)
    clock.move(1.0)
    assert (early.read_all().got, early.frames, late.read_all().got) == ([0], 1, [])


async def test_a_listener_gets_no_earlier_changes() -> None:
    live = new_live()
    early = Listener(live)
    say(live, 0)
    late = Listener(live)
    say(live, 1)
    live.flush()
    assert (early.read_all().got, late.read_all().got) == ([0, 1], [1])


async def test_listeners_that_keep_up_share_one_frame() -> None:
    live = new_live()
    listeners = [Listener(live) for _ in range(3)]
    say(live, 1)
    live.flush()
    frames = {id(live.frame(listener.after, TOPICS | {f"streams:other{n}"})) for n, listener in enumerate(listeners)}
    assert len(frames) == 1


@pytest.mark.law("E9")
async def test_a_slow_listener_gets_bounded_frames_that_are_not_kept() -> None:
    live = new_live()
    listener = Listener(live)
    for n in range(100):
        say(live, n, 10_000)
        live.flush()
    frame = live.frame(listener.after, TOPICS)
    assert frame is not None
    assert len(frame.text) <= USUAL.frame_bytes + 10_100
    assert live._last == {}
    assert listener.read_all().got == list(range(100))


@pytest.mark.law("E9")
async def test_a_listener_that_falls_out_of_the_ring_is_notified() -> None:
    live = new_live()
    slow, quick = Listener(live), Listener(live)
    for n in range(USUAL.ring_batches + 1):
        say(live, n)
        live.flush()
        quick.read()
    slow.read()
    assert slow.lost
    assert quick.got == list(range(USUAL.ring_batches + 1))
    assert len(live._ring) == USUAL.ring_batches


@pytest.mark.law("E9")
async def test_the_ring_holds_no_more_bytes_than_it_may() -> None:
    live = new_live(BroadcastLimits(ring_bytes=50_000))
    listener = Listener(live)
    for n in range(40):
        say(live, n, 9_000)
        live.flush()
        assert live._size == sum(bundle.size for bundle in live._ring) <= 50_000
    say(live, 40, 90_000)
    live.flush()
    assert len(live._ring) == 1
    listener.read()
    assert listener.lost


async def test_the_last_listener_clears_the_ring_and_the_next_starts_fresh() -> None:
    live = new_live()
    first = Listener(live)
    say(live, 0)
    live.flush()
    say(live, 1)
    live.leave(first.wake)
    live.leave(first.wake)
    assert (len(live._ring), live._size, live.listeners) == (0, 0, 0)
    second = Listener(live)
    say(live, 2)
    live.flush()
    assert second.read_all().got == [2]


async def test_a_batch_that_cannot_be_encoded_is_a_gap_for_everyone() -> None:
    live = new_live()
    listener = Listener(live, frozenset({"feed"}))
    live.published([cast(FeedEvent, None)])
    with pytest.raises(AttributeError):
        live.flush()
    listener.read()
    assert listener.lost


@pytest.mark.law("E6")
@pytest.mark.parametrize("seed", range(20))
async def test_every_change_arrives_once_and_in_order_whatever_listeners_do(seed: int) -> None:
    chance = random.Random(seed)
    live = new_live(BroadcastLimits(ring_batches=8, frame_bytes=200))
    listeners: list[tuple[int, Listener]] = []
    sent = 0
    for _ in range(400):
        step = chance.random()
        if step < 0.1:
            listeners.append((sent, Listener(live)))
        elif step < 0.15 and listeners:
            live.leave(listeners.pop(chance.randrange(len(listeners)))[1].wake)
        elif step < 0.6:
            say(live, sent, chance.choice([0, 0, 300]))
            sent += bool(listeners)
        elif step < 0.75:
            live.flush()
        elif listeners:
            chance.choice(listeners)[1].read()
    live.flush()
    for first, listener in listeners:
        listener.read_all()
        whole = list(range(first, sent))
        assert listener.got == (whole[: len(listener.got)] if listener.lost else whole)


def test_several_messages_are_an_array_and_one_is_itself() -> None:
    assert [joined([]), joined([b"{}"]), joined([b"{}", b"[1]"])] == ["", "{}", "[{},[1]]"]
