"""Keeps what is made from the log up to date, in a thread of its own that leaves time to the writer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Protocol

import structlog

from quarterdeck.errors import StoreError

POLL_SECONDS = 0.5
# A full disk or a file that another program holds does not recover at once.
RETRY_SECONDS = 30.0
# A search walks at most twice as many events that are not indexed.
FAR_BEHIND = 5_000

logger = structlog.get_logger("store")


class FollowingFile(Protocol):
    """A file that is made from the log."""

    seq_no: int

    def add(self) -> int:
        """Take the next events; 0 when none is left."""

    def tidy(self) -> bool:
        """Do what is due once every event is taken. True when that left more to take."""

    def close(self) -> None: ...


class LogFollower:
    """Lets a file follow the log up to `head`, from `start` to `stop`. `head` is 0 while nothing may be written. `name`
    says in the daemon's log what the file is; with a higher `calmness` it pauses longer between two parts."""

    def __init__(
        self,
        name: str,
        open_file: Callable[[], FollowingFile],
        head: Callable[[], int],
        retry_seconds: float = RETRY_SECONDS,
        calmness: float = 1.0,
    ) -> None:
        self._name = name
        self._open_file = open_file
        self._head = head
        self._retry_seconds = retry_seconds
        self._calmness = calmness
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.trouble: str | None = None
        """The reason why the file does not follow; None while it does."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the present part; the next start goes on from there."""
        self._stopping.set()
        if self._thread.is_alive():  # a start that failed stops what it has not started yet
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                file = self._open_file()
            except (sqlite3.Error, OSError) as error:
                self._wait(f"no {self._name}", error)
                continue
            try:
                self._follow(file)
            except (sqlite3.Error, StoreError) as error:
                self._wait(f"the {self._name} waits", error)
            finally:
                file.close()

    def _wait(self, problem: str, error: Exception) -> None:
        self.trouble = str(error)
        logger.warning(problem, error=str(error))
        self._stopping.wait(self._retry_seconds)

    def _follow(self, file: FollowingFile) -> None:
        while not self._stopping.is_set():
            head, started = self._head(), time.monotonic()
            has_more = file.add() > 0 if file.seq_no < head else head > 0 and file.tidy()
            self.trouble = None
            if not has_more:
                self._stopping.wait(POLL_SECONDS)
                continue
            took = time.monotonic() - started
            self._stopping.wait(took * self._calmness * pause_factor(self._head() - head, head - file.seq_no))


def pause_factor(written: int, behind: int) -> float:
    """How long to pause, as a multiple of the time of the last part: short when nothing is written, long while events
    stream in, and shorter again when searches would have much to walk."""
    if not written:
        return 0.1
    return 12.0 if behind < FAR_BEHIND else 6.0
