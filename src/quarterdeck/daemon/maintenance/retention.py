"""Old events leave the log when a setting asks for it: by age, by size, and a few at a time."""

from __future__ import annotations

import asyncio
import time

import structlog

from quarterdeck.config import StoreSettings
from quarterdeck.core.engine.messages import Trimming
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.errors import StoreError
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

FIRST_SECONDS = 5.0
SIZE_SECONDS = 60.0
AGE_SECONDS = 3600.0
REST_SECONDS = 0.02
DAY = 86400.0
ROOM = 0.9
"""How much of `store.max_bytes` is used after a trim, so that the next one is not due at once."""

logger = structlog.get_logger("retention")


class Retention:
    """Trims one log, as long as it runs."""

    def __init__(self, loop: Loop, log: Log, reader: Reader, settings: StoreSettings) -> None:
        self._loop = loop
        self._log = log
        self._reader = reader
        self._settings = settings
        self._age_due = 0.0

    async def run(self) -> None:
        """Look now and then, for ever."""
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            try:
                await self.keep()
            except StoreError as error:
                logger.warning("the log is not trimmed", error=str(error))
            await asyncio.sleep(SIZE_SECONDS)

    async def keep(self) -> None:
        """Trim what the settings do not keep."""
        days, limit = self._settings.retention_days, self._settings.max_bytes
        if days and time.monotonic() >= self._age_due:
            self._age_due = time.monotonic() + AGE_SECONDS
            upto = await asyncio.to_thread(self._reader.last_before, time.time() - days * DAY)
            await self._trim(upto, "store.retention_days")
        await self._loop.at_rest()
        if limit and (used := self._log.used_bytes()) > limit:
            events = self._log.seq_no - self._log.trimmed
            share = (used - ROOM * limit) / used
            await self._trim(self._log.trimmed + int(events * share) + 1, "store.max_bytes")

    async def _trim(self, upto: int, why: str) -> None:
        """On record first, then done: what has left is always accounted for."""
        if self._log.damage is not None or upto <= self._log.trimmed:
            return
        await self._loop.at_rest()
        self._loop.save_snapshot()
        upto = min(upto, self._log.trimmable())
        events, at = upto - self._log.trimmed, time.time()
        if events <= 0:
            return
        reply = await self._loop.command(Trimming(upto=upto, events=events, why=why, at=at))
        if reply.outcome != "applied":
            raise StoreError(reply.message)
        await self._loop.at_rest()
        while self._log.trim(upto, at=at, why=why):
            await asyncio.sleep(REST_SECONDS)
            await self._loop.at_rest()
        logger.info("trimmed", upto=upto, events=events, why=why)
