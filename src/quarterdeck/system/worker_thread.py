"""A thread for work that may hang: the caller's wait ends in time, and the daemon can still exit."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
# Each abandoned thread stays until the disk responds again.
MAX_STUCK = 4


class WorkerTimeout(Exception):
    """The work did not end in time."""


class WorkerThread:
    """Runs one job after another. A thread that hangs is abandoned; after MAX_STUCK of them every job is refused."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left_behind: list[threading.Thread] = []
        self._one_at_a_time = asyncio.Lock()  # the time of a job begins when the thread is free for it
        self._start()

    def _start(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_work, args=(self._jobs,), name=self._name, daemon=True)
        self._thread.start()

    async def run(self, seconds: float, work: Callable[..., T], *args: Any) -> T:
        """Run the work and return or raise its result; WorkerTimeout if it takes longer than this after it began."""
        async with self._one_at_a_time:
            self._left_behind = [thread for thread in self._left_behind if thread.is_alive()]
            if len(self._left_behind) >= MAX_STUCK:
                raise WorkerTimeout
            job = _Job(work, args)
            self._jobs.put(job)
            try:
                async with asyncio.timeout(seconds):
                    found: T = await job.future
            except TimeoutError:
                self._left_behind.append(self._thread)
                self._jobs.put(None)
                self._start()
                raise WorkerTimeout from None
            return found

    def close(self) -> None:
        """End the thread once it is idle."""
        self._jobs.put(None)


class _Job:
    def __init__(self, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._work, self._args = work, args
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def do(self) -> None:
        try:
            found, error = self._work(*self._args), None
        except Exception as raised:
            found, error = None, raised
        try:
            self._loop.call_soon_threadsafe(self._deliver, found, error)
        except RuntimeError:
            return

    def _deliver(self, found: Any, error: Exception | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(found)


def _work(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job.do()
