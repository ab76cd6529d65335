"""A log that cannot be written: the reason, and the inputs that are submitted again once it can."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

import structlog

from quarterdeck.core.engine.messages import Input

# An agent that waits is released a moment after the disk has room; a try costs one small transaction.
RETRY_SECONDS = 0.5

logger = structlog.get_logger("loop")


class WriteRetry:
    """Keeps inputs while the log cannot be written. `can_write` tries the log, `submit` puts a kept input in the queue.
    `reason` is None while the log can be written."""

    def __init__(self, can_write: Callable[[], bool], submit: Callable[[Input], None]) -> None:
        self.reason: str | None = None
        self._can_write = can_write
        self._submit = submit
        self._kept: list[Input] = []
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, reason: str, kept: Iterable[Input]) -> None:
        """Begin to retry. `kept` are the inputs that no sender repeats."""
        self.reason = reason
        self._kept += kept
        self._try_later()

    def end(self) -> None:
        """Submit the kept inputs: the log can be written again."""
        if self.reason is None:
            return
        logger.info("the log can be written again", inputs=len(self._kept))
        self.close()
        kept, self._kept = self._kept, []
        for input in kept:
            self._submit(input)

    def close(self) -> None:
        """Stop trying."""
        self.reason = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _try_later(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._try)

    def _try(self) -> None:
        self._timer = None
        if self._can_write():
            self.end()
        else:
            self._try_later()
