"""Keeps the search index up to date, in a thread of its own that leaves time to the writer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from quarterdeck.errors import StoreError
from quarterdeck.store.search_index import SearchIndex

POLL_SECONDS = 0.5
# A full disk or a file that another program holds does not recover at once.
RETRY_SECONDS = 30.0
# A search walks at most twice as many events that are not indexed.
FAR_BEHIND = 5_000

logger = structlog.get_logger("search")


class SearchIndexer:
    """Indexes the log up to `head`, from `start` to `stop`."""

    def __init__(self, log: Path, head: Callable[[], int]) -> None:
        self._log = log
        self._head = head
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the present chunk; the next start goes on from there."""
        self._stopping.set()
        if self._thread.is_alive():  # a start that failed stops what it has not started yet
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
                self._stopping.wait(POLL_SECONDS)
                continue
            took = time.monotonic() - started
            self._stopping.wait(took * pause_factor(self._head() - head, head - index.seq_no))


def pause_factor(written: int, behind: int) -> float:
    """How long to pause, as a multiple of the time of the last chunk: short when nothing is written, long while events
    stream in, and shorter again when searches would have much to walk."""
    if not written:
        return 0.1
    return 12.0 if behind < FAR_BEHIND else 6.0
