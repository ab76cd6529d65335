"""What looks after the store while the daemon runs: the index of words, retention, the check after an unclean stop."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import structlog

from quarterdeck.config import StoreSettings
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.integrity_check import Checkup
from quarterdeck.daemon.maintenance.retention import Retention
from quarterdeck.daemon.maintenance.search_indexer import Indexing
from quarterdeck.store.hash_chain import Damage
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

logger = structlog.get_logger("store")


class Keeping:
    """From `start` to `stop`. `mark` is a file that is there while the log may be unsound."""

    def __init__(self, loop: Loop, log: Log, reader: Reader, disk: Disk, settings: StoreSettings, mark: Path) -> None:
        self._log = log
        self._mark = mark
        self._settings = settings
        self._indexing = Indexing(log.path, lambda: 0 if disk.nearly_full else log.seq_no)
        self._retention = Retention(loop, log, reader, settings)
        self._checkup: Checkup | None = None
        self._trimming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; a mark that is there already was left by an unclean stop."""
        unclean = self._mark.exists()
        with contextlib.suppress(OSError):
            self._mark.touch(mode=0o600)
        self._indexing.start()
        if unclean and self._log.damage is None:
            running = asyncio.get_running_loop()

            def found(damage: Damage | None) -> None:
                running.call_soon_threadsafe(self._checked, damage)

            self._checkup = Checkup(self._log.path, found)
            self._checkup.start()
        elif self._settings.retention_days or self._settings.max_bytes:
            self._trim()

    def _checked(self, damage: Damage | None) -> None:
        if damage is not None:
            self._log.damage = damage
            logger.error("the log is damaged: nothing more is recorded", damage=str(damage))
            return
        logger.info("the log is sound", events=self._log.seq_no)
        if self._settings.retention_days or self._settings.max_bytes:
            self._trim()

    def _trim(self) -> None:
        self._trimming = asyncio.get_running_loop().create_task(self._retention.run())

    def stop(self) -> None:
        """End, and leave no mark on a log that is known to be sound."""
        if self._trimming is not None:
            self._trimming.cancel()
        if self._checkup is not None:
            self._checkup.stop()
        self._indexing.stop()
        if self._log.damage is None:
            with contextlib.suppress(OSError):
                self._mark.unlink(missing_ok=True)
