"""The work on the store while the daemon runs: search index, retention, and the check after an unclean stop."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import structlog

from quarterdeck.config.settings import StoreSettings
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.maintenance.integrity_check import IntegrityCheck
from quarterdeck.daemon.maintenance.retention import Retention
from quarterdeck.daemon.maintenance.search_indexer import SearchIndexer
from quarterdeck.store.hash_chain import Damage
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

logger = structlog.get_logger("store")


class StoreMaintenance:
    """Works from `start` to `stop`. `mark` is a file that exists while the log may be unsound."""

    def __init__(
        self, loop: Loop, log: Log, reader: Reader, disk: DiskReserve, settings: StoreSettings, mark: Path
    ) -> None:
        self._log = log
        self._mark = mark
        self._settings = settings
        self._indexer = SearchIndexer(log.path, lambda: 0 if disk.nearly_full else log.seq_no)
        self._retention = Retention(loop, log, reader, settings)
        self._check: IntegrityCheck | None = None
        self._is_sound = False
        self._trimming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin. A mark that exists already was left by an unclean stop."""
        unclean = self._mark.exists()
        self._is_sound = not unclean
        with contextlib.suppress(OSError):
            self._mark.touch(mode=0o600)
        self._indexer.start()
        if unclean and self._log.damage is None:
            running = asyncio.get_running_loop()

            def found(damage: Damage | None) -> None:
                running.call_soon_threadsafe(self._check_finished, damage)

            self._check = IntegrityCheck(self._log.path, found)
            self._check.start()
        elif self._settings.retention_days or self._settings.max_bytes:
            self._trim()

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
        self._trimming = asyncio.get_running_loop().create_task(self._retention.run())

    def stop(self) -> None:
        """End, and remove the mark when the log is known to be sound: a check that could not finish is due again."""
        if self._trimming is not None:
            self._trimming.cancel()
        if self._check is not None:
            self._check.stop()
        self._indexer.stop()
        if self._is_sound and self._log.damage is None:
            with contextlib.suppress(OSError):
                self._mark.unlink(missing_ok=True)
