"""The ring of what changes: every listener gets everything once and in order, or is told of a gap."""

from __future__ import annotations

import asyncio
import json
import random
from typing import cast

import pytest

from quarterdeck.api.backend import Desk
from quarterdeck.api.live.broadcast import USUAL, Limits, Live, joined
from quarterdeck.core.model.events import FeedEvent

SESSION = "s1"
TOPICS = frozenset({f"streams:{SESSION}"})


def new_live(limits: Limits = USUAL) -> Live:
    return Live(cast(Desk, None), limits)


def numbers(text: str) -> list[int]:
    """What was streamed, by its number."""
    value = json.loads(text) if text else []
    return [message["data"]["n"] for message in (value if isinstance(value, list) else [value])]


class Listener:
    """Reads at its own pace."""

    def __init__(self, live: Live, topics: frozenset[str] = TOPICS) -> None:
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


def say(live: Live, n: int, size: int = 0, session: str = SESSION) -> None:
    live.stream(session, "message", {"n": n, "fill": "x" * size})


async def test_what_comes_in_one_moment_is_one_frame() -> None:
    live = new_live()
    listener = Listener(live)
    for n in range(5):
        say(live, n)
    await asyncio.wait_for(listener.wake.wait(), 1)
    assert listener.read_all().got == [0, 1, 2, 3, 4]
    assert listener.frames == 1


async def test_a_listener_hears_nothing_of_before() -> None:
    live = new_live()
    early = Listener(live)
    say(live, 0)
    late = Listener(live)
    say(live, 1)
    live.flush()
    assert (early.read_all().got, late.read_all().got) == ([0, 1], [1])


async def test_those_who_keep_up_share_one_frame() -> None:
    live = new_live()
    listeners = [Listener(live) for _ in range(3)]
    say(live, 1)
    live.flush()
    frames = {id(live.frame(listener.after, TOPICS | {f"streams:other{n}"})) for n, listener in enumerate(listeners)}
    assert len(frames) == 1


@pytest.mark.law("E9")
async def test_one_that_lags_gets_bounded_frames_which_nobody_keeps() -> None:
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
async def test_one_that_falls_out_of_the_ring_is_told() -> None:
    live = new_live()
    slow, quick = Listener(live), Listener(live)
    for n in range(USUAL.ring_bundles + 1):
        say(live, n)
        live.flush()
        quick.read()
    slow.read()
    assert slow.lost
    assert quick.got == list(range(USUAL.ring_bundles + 1))
    assert len(live._ring) == USUAL.ring_bundles


@pytest.mark.law("E9")
async def test_the_ring_holds_no_more_bytes_than_it_may() -> None:
    live = new_live(Limits(ring_bytes=50_000))
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


async def test_the_last_to_leave_clears_the_ring_and_the_next_starts_afresh() -> None:
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


async def test_what_could_not_be_written_is_a_gap_for_everyone() -> None:
    live = new_live()
    listener = Listener(live, frozenset({"feed"}))
    live.published([cast(FeedEvent, None)])
    with pytest.raises(AttributeError):
        live.flush()
    listener.read()
    assert listener.lost


@pytest.mark.law("E6")
@pytest.mark.parametrize("seed", range(20))
async def test_whoever_comes_goes_and_dawdles_everything_comes_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    live = new_live(Limits(ring_bundles=8, frame_bytes=200))
    listeners: list[tuple[int, Listener]] = []
    said = 0
    for _ in range(400):
        step = chance.random()
        if step < 0.1:
            listeners.append((said, Listener(live)))
        elif step < 0.15 and listeners:
            live.leave(listeners.pop(chance.randrange(len(listeners)))[1].wake)
        elif step < 0.6:
            say(live, said, chance.choice([0, 0, 300]))
            said += bool(listeners)
        elif step < 0.75:
            live.flush()
        elif listeners:
            chance.choice(listeners)[1].read()
    live.flush()
    for first, listener in listeners:
        listener.read_all()
        whole = list(range(first, said))
        assert listener.got == (whole[: len(listener.got)] if listener.lost else whole)


def test_several_messages_are_an_array_and_one_is_itself() -> None:
    assert [joined([]), joined([b"{}"]), joined([b"{}", b"[1]"])] == ["", "{}", "[{},[1]]"]
