"""The index of words follows the log on a thread of its own, and gives way to the writer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from quarterdeck.errors import StoreError
from quarterdeck.store.search_index import SearchIndex

LOOK_SECONDS = 0.5
RETRY_SECONDS = 30.0
FAR_BEHIND = 5_000

logger = structlog.get_logger("search")


class Indexing:
    """Indexes what `head` says has been written, from `start` to `stop`."""

    def __init__(self, log: Path, head: Callable[[], int]) -> None:
        self._log = log
        self._head = head
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the chunk at hand; the next start goes on from there."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                index = SearchIndex(self._log)
            except (sqlite3.Error, OSError) as error:
                logger.warning("no search index", error=str(error))
                self._stopping.wait(RETRY_SECONDS)
                continue
            try:
                self._follow(index)
            except (sqlite3.Error, StoreError) as error:
                logger.warning("the search index waits", error=str(error))
                self._stopping.wait(RETRY_SECONDS)
            finally:
                index.close()

    def _follow(self, index: SearchIndex) -> None:
        while not self._stopping.is_set():
            head, started = self._head(), time.monotonic()
            if index.seq_no >= head or (index.add() == 0 and not index.forget_trimmed()):
                self._stopping.wait(LOOK_SECONDS)
                continue
            took = time.monotonic() - started
            self._stopping.wait(took * rest(self._head() - head, head - index.seq_no))


def rest(written: int, behind: int) -> float:
    """How long to rest, in times of what the last chunk took: little in a pause, long while events stream in, and
    less so when searches would have much to walk."""
    if not written:
        return 0.1
    return 12.0 if behind < FAR_BEHIND else 6.0
