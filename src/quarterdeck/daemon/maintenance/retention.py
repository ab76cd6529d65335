"""Trims old events from the log where a setting asks for it: by age, by size, and a few at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from quarterdeck.config.settings import StoreSettings
from quarterdeck.core.engine.messages import TrimLog
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.errors import StoreError
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

# The clients that waited for the start come first.
FIRST_SECONDS = 5.0
SIZE_SECONDS = 60.0
AGE_SECONDS = 3600.0
# Between two chunks, each of which keeps the writer for a moment.
REST_SECONDS = 0.02
COUNTS_SECONDS = 600.0
COUNTS_POLL_SECONDS = 0.5
DAY = 86400.0
TRIM_TO = 0.9
"""How much of `store.max_bytes` is used after a trim, so that the next one is not due at once."""

logger = structlog.get_logger("retention")


class Retention:
    """Trims one log as long as it runs. `counted` is the last event that is in the counts over time; None when there is
    no need to wait for them."""

    def __init__(
        self,
        loop: Loop,
        log: Log,
        reader: Reader,
        settings: StoreSettings,
        counted: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._loop = loop
        self._log = log
        self._reader = reader
        self._settings = settings
        self._counted = counted
        self._age_due = 0.0
        self.before_trim: Callable[[], None] = lambda: None

    async def run(self) -> None:
        """Trim again and again."""
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            try:
                await self.trim_by_settings()
            except StoreError as error:
                logger.warning("the log is not trimmed", error=str(error))
            await asyncio.sleep(SIZE_SECONDS)

    async def trim_by_settings(self) -> None:
        """Trim the events that the settings do not keep."""
        days, limit = self._settings.retention_days, self._settings.max_bytes
        if days and time.monotonic() >= self._age_due:
            self._age_due = time.monotonic() + AGE_SECONDS
            upto = await asyncio.to_thread(self._reader.last_before, time.time() - days * DAY)
            await self._trim(upto, "store.retention_days")
        await self._loop.wait_until_idle()
        if limit and (used := self._log.used_bytes()) > limit:
            events = self._log.seq_no - self._log.trimmed
            share = (used - TRIM_TO * limit) / used
            await self._trim(self._log.trimmed + int(events * share) + 1, "store.max_bytes")

    async def _wait_for_counts(self, upto: int) -> None:
        """Wait until the events were counted: they cannot be counted once they are gone."""
        until = time.monotonic() + COUNTS_SECONDS
        while (counted := await asyncio.to_thread(self._counted)) is not None and counted < upto:
            if time.monotonic() > until:
                logger.warning("events are trimmed that were not counted", counted=counted, upto=upto)
                return
            await asyncio.sleep(COUNTS_POLL_SECONDS)

    async def _trim(self, upto: int, reason: str) -> None:
        """Record the trim before it happens, so that every missing event is accounted for."""
        if self._log.damage is not None or upto <= self._log.trimmed:
            return
        await self._loop.wait_until_idle()
        self._loop.save_snapshot()
        self.before_trim()
        upto = min(upto, self._log.trimmable())
        await self._wait_for_counts(upto)
        events, at = upto - self._log.trimmed, time.time()
        if events <= 0:
            return
        reply = await self._loop.command(TrimLog(upto=upto, events=events, why=reason, at=at))
        if reply.outcome != "applied":
            raise StoreError(reply.message)
        await self._loop.wait_until_idle()
        while self._log.trim(upto, at=at, why=reason):
            await asyncio.sleep(REST_SECONDS)
            await self._loop.wait_until_idle()
        logger.info("trimmed", upto=upto, events=events, reason=reason)
