"""A log that takes nothing: why, and what is told again as soon as it takes something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import structlog

from quarterdeck.core.engine.messages import Input

RETRY_SECONDS = 0.5

logger = structlog.get_logger("loop")


class Trouble:
    """`is_over` tries the log, `tell` says what was kept once more. `reason` is None while all is well."""

    def __init__(self, is_over: Callable[[], bool], tell: Callable[[Input], None]) -> None:
        self.reason: str | None = None
        self._is_over = is_over
        self._tell = tell
        self._kept: list[Input] = []
        self._trying: asyncio.TimerHandle | None = None

    def begin(self, reason: str, kept: Iterable[Input]) -> None:
        """Something could not be recorded; `kept` is what of it nobody would say again."""
        self.reason = reason
        self._kept += kept
        self._try_later()

    def end(self) -> None:
        """Something was recorded again."""
        if self.reason is None:
            return
        logger.info("the log is written again", told_again=len(self._kept))
        self.close()
        kept, self._kept = self._kept, []
        for told in kept:
            self._tell(told)

    def close(self) -> None:
        """Try no more."""
        self.reason = None
        if self._trying is not None:
            self._trying.cancel()
            self._trying = None

    def _try_later(self) -> None:
        if self._trying is None:
            self._trying = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._try)

    def _try(self) -> None:
        self._trying = None
        if self._is_over():
            self.end()
        else:
            self._try_later()
