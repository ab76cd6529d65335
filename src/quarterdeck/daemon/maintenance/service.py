"""The work on the store while the daemon runs: search index, counts, retention, and the check after an unclean
stop."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import structlog

from quarterdeck.config.settings import StoreSettings
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.integrity_check import IntegrityCheck
from quarterdeck.daemon.maintenance.log_follower import LogFollower
from quarterdeck.daemon.maintenance.retention import Retention
from quarterdeck.daemon.telemetry.counters import Histogram
from quarterdeck.store.counts.counts_file import settled_upto
from quarterdeck.store.counts.event_counter import EventCounter
from quarterdeck.store.hash_chain import Damage
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader
from quarterdeck.store.search_index import SearchIndex

CALMNESS_OF_COUNTS = 4.0
"""Nobody waits for counts, as a search waits for its index."""

logger = structlog.get_logger("store")


class StoreMaintenance:
    """Works from `start` to `stop`. `mark` is a file that exists while the log may be unsound."""

    def __init__(
        self, loop: Loop, log: Log, reader: Reader, disk: DiskReserve, settings: StoreSettings, mark: Path
    ) -> None:
        self._log = log
        self._mark = mark
        self._settings = settings
        hook_calls = HookCalls(loop.stats.hook_seconds)
        self._followers = (
            LogFollower("search index", lambda: SearchIndex(log.path), self._head),
            LogFollower(
                "count over time",
                lambda: EventCounter(log.path, hook_calls.take),
                self._head,
                calmness=CALMNESS_OF_COUNTS,
            ),
        )
        self._disk = disk
        self.retention = Retention(loop, log, reader, settings, self._counted)
        self._check: IntegrityCheck | None = None
        self._is_sound = False
        self._trimming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. A mark that exists already was left by an unclean stop."""
        unclean = self._mark.exists()
        self._is_sound = not unclean
        with contextlib.suppress(OSError):
            self._mark.touch(mode=0o600)
        for follower in self._followers:
            follower.start()
        if unclean and self._log.damage is None:
            running = asyncio.get_running_loop()

            def found(damage: Damage | None) -> None:
                running.call_soon_threadsafe(self._check_finished, damage)

            self._check = IntegrityCheck(self._log.path, found)
            self._check.start()
        elif self._settings.retention_days or self._settings.max_bytes:
            self._trim()

    def _head(self) -> int:
        """The last event that may be taken up; none while the disk is nearly full."""
        return 0 if self._disk.nearly_full else self._log.seq_no

    def _counted(self) -> int | None:
        """The last event that is in the counts for good; None when they do not follow, and nothing waits for them."""
        if self._followers[1].trouble is not None or self._disk.nearly_full:
            return None
        try:
            return settled_upto(self._log.path)
        except sqlite3.Error:
            return None

    def _check_finished(self, damage: Damage | None) -> None:
        if damage is not None:
            self._log.damage = damage
            logger.error("the log is damaged: nothing more is recorded", damage=str(damage))
            return
        self._is_sound = True
        logger.info("the log is sound", events=self._log.seq_no)
        if self._settings.retention_days or self._settings.max_bytes:
            self._trim()

    def _trim(self) -> None:
        self._trimming = asyncio.get_running_loop().create_task(self.retention.run())

    def stop(self) -> None:
        """End, and remove the mark when the log is known to be sound: a check that could not finish is due again."""
        if self._trimming is not None:
            self._trimming.cancel()
        if self._check is not None:
            self._check.stop()
        for follower in self._followers:
            follower.stop()
        if self._is_sound and self._log.damage is None:
            with contextlib.suppress(OSError):
                self._mark.unlink(missing_ok=True)


class HookCalls:
    """The hook calls since they were last taken."""

    def __init__(self, seconds: Histogram) -> None:
        self._seconds = seconds
        self._count, self._sum = 0, 0.0

    def take(self) -> tuple[int, float]:
        """How many calls were answered since the last time, and the seconds that they took."""
        count, total = self._seconds.count_and_sum()
        taken = count - self._count, total - self._sum
        self._count, self._sum = count, total
        return taken
