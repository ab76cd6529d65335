"""A file that is made from the log follows it: after an error too, and not while the disk is nearly full."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from quarterdeck.daemon.maintenance.log_follower import FAR_BEHIND, FollowingFile, LogFollower, pause_factor
from quarterdeck.errors import StoreError

LONG = 30.0


class Shelf:
    """A file that takes three events at a time, and fails once if it is told to."""

    def __init__(self, failures: list[Exception] | None = None) -> None:
        self.seq_no = 0
        self.tidied = threading.Event()
        self.closed = 0
        self._failures = failures or []

    def add(self) -> int:
        if self._failures:
            raise self._failures.pop()
        self.seq_no += 3
        return 3

    def tidy(self) -> bool:
        self.tidied.set()
        return False

    def close(self) -> None:
        self.closed += 1


@contextmanager
def following(open_file: Callable[[], FollowingFile], head: Callable[[], int]) -> Iterator[LogFollower]:
    follower = LogFollower("shelf", open_file, head, retry_seconds=0.01)
    follower.start()
    yield follower
    follower.stop()


def test_it_follows_to_the_head_and_then_tidies() -> None:
    shelf = Shelf()
    with following(lambda: shelf, lambda: 9) as follower:
        assert shelf.tidied.wait(LONG)
        assert (shelf.seq_no, follower.trouble) == (9, None)
    assert shelf.closed == 1


def test_it_opens_the_file_again_after_an_error() -> None:
    shelf = Shelf([StoreError("a full disk")])
    with following(lambda: shelf, lambda: 6):
        assert shelf.tidied.wait(LONG)
    assert (shelf.seq_no, shelf.closed) == (6, 2)


def test_trouble_says_why_it_does_not_follow() -> None:
    calls = threading.Semaphore(0)

    def refuse() -> FollowingFile:
        calls.release()
        raise OSError("no such disk")

    follower = LogFollower("shelf", refuse, lambda: 6)
    follower.start()
    assert calls.acquire(timeout=LONG)
    follower.stop()
    assert follower.trouble == "no such disk"


def test_nothing_is_written_while_there_is_no_head() -> None:
    shelf, calls = Shelf(), threading.Semaphore(0)

    def head() -> int:
        calls.release()
        return 0

    with following(lambda: shelf, head):
        assert calls.acquire(timeout=LONG)
        assert calls.acquire(timeout=LONG)
    assert (shelf.seq_no, shelf.tidied.is_set()) == (0, False)


def test_it_pauses_longest_while_events_stream_in() -> None:
    assert pause_factor(0, 10) < pause_factor(5, FAR_BEHIND) < pause_factor(5, 10)
