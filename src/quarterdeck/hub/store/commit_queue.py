"""The group commit: changes that come together are written in one transaction, on a thread of their own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

import structlog

from quarterdeck.errors import StoreError
from quarterdeck.store.sqlite import transaction

T = TypeVar("T")
Change = Callable[[sqlite3.Connection], T]
MOST_AT_ONCE = 500

logger = structlog.get_logger("hub.store")


class CommitQueue:
    """The one writer of hub.db. A change is a function of the connection; what it returns is known once it is on
    disk. Changes are made in the order in which they were asked for."""

    def __init__(self, db: sqlite3.Connection, after_commit: Callable[[], None] = lambda: None) -> None:
        self._db = db
        self._waiting: list[tuple[Change[Any], asyncio.Future[Any]]] = []
        self._has_work = asyncio.Event()
        self._after_commit = after_commit
        self._task: asyncio.Task[None] | None = None
        self.trouble: str | None = None

    def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._run())

    @property
    def queued(self) -> int:
        """How many changes are not written yet."""
        return len(self._waiting)

    async def stop(self) -> None:
        """Write what was asked for, and end."""
        if self._task is None:
            return
        await self.submit(lambda db: None)
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None

    def submit(self, change: Change[T]) -> asyncio.Future[T]:
        """Ask for a change. The future has its result once it is durable, or the error."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((change, done))
        self._has_work.set()
        return done

    async def _run(self) -> None:
        while True:
            await self._has_work.wait()
            batch = self._waiting[:MOST_AT_ONCE]
            outcomes = await asyncio.to_thread(self._write, [change for change, _ in batch])
            del self._waiting[: len(batch)]
            if not self._waiting:
                self._has_work.clear()
            for (_, done), (result, error) in zip(batch, outcomes, strict=True):
                if done.done():
                    continue
                if error is None:
                    done.set_result(result)
                else:
                    done.set_exception(error)
            self._after_commit()

    def _write(self, changes: list[Change[Any]]) -> list[tuple[Any, Exception | None]]:
        """The result of each change, or its error. One that fails must not take the others with it, so then each gets
        a transaction of its own."""
        try:
            with transaction(self._db):
                found: list[tuple[Any, Exception | None]] = [(change(self._db), None) for change in changes]
        except Exception:  # whatever it was, it comes again below and reaches the one who asked
            return [self._write_one(change) for change in changes]
        self.trouble = None
        return found

    def _write_one(self, change: Change[Any]) -> tuple[Any, Exception | None]:
        try:
            with transaction(self._db):
                result = change(self._db)
        except sqlite3.Error as error:
            self.trouble = f"the store cannot be written ({error}); free some space or fix its mode"
            logger.error("the store cannot be written", error=str(error))
            return None, StoreError(self.trouble)
        except Exception as error:
            return None, error
        self.trouble = None
        return result, None
