"""Notifies people of waiting requests: a bounded queue and a thread for each channel, so that the loop never waits."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable
from queue import Full, Queue
from typing import Any

import structlog

from quarterdeck.core.engine.messages import Notify, NotifyFailed
from quarterdeck.core.text.notifications import Notice, notice_for
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.notify.channels import Channel
from quarterdeck.daemon.notify.http_post import NotificationFailed

# More notices than this only repeat that requests wait; a channel that hangs must not keep all of them.
QUEUE = 64
RETRIES = 3
BACKOFF_SECONDS = 1.0
# A channel may hang for ten seconds in a call; the stop must not wait for that.
STOP_SECONDS = 0.5

logger = structlog.get_logger("notify")


class Notifier:
    """Takes notices on the loop and returns at once. `page` is the address for other machines, if there is one."""

    def __init__(self, channels: list[Channel], loop: Loop) -> None:
        self.page: str | None = None
        self._loop = loop
        self._main = asyncio.get_running_loop()
        self._queues = {channel.name: ChannelQueue(channel, self) for channel in channels}
        for queue in self._queues.values():
            if missing := queue.channel.problem():
                logger.warning(
                    "notifications cannot be sent", channel=queue.channel.name, error=missing, next="qd doctor"
                )
            queue.start()

    def __call__(self, command: Notify) -> None:
        for name in command.channels:
            self._queues[name].put(command.notice)

    def still_waits(self, request_id: str) -> bool:
        """True if a request still waits. Safe in any thread: a state is never changed, only replaced."""
        request = self._loop.state.requests.get(request_id)
        return request is not None and request.status == "pending"

    def record_failure(self, channel: str, notice: Notice, error: str) -> None:
        """Record a failure, from any thread."""
        ids = tuple(one.request_id for one in notice.requests)
        failure = NotifyFailed(channel=channel, request_ids=ids, error=error, at=time.time())
        with contextlib.suppress(RuntimeError):
            self._main.call_soon_threadsafe(self._loop.submit, failure)

    def stats(self) -> dict[str, Any]:
        """The numbers of each channel in `GET /stats`."""
        return {name: queue.stats() for name, queue in self._queues.items()}

    def stop(self) -> None:
        """Send no more; a channel that does not respond is abandoned."""
        for queue in self._queues.values():
            queue.stop()
        for queue in self._queues.values():
            queue.join(STOP_SECONDS)


class ChannelQueue(threading.Thread):
    """One channel's queue. Requests that were answered meanwhile are left out."""

    def __init__(self, channel: Channel, notifier: Notifier) -> None:
        super().__init__(daemon=True, name=f"notify-{channel.name}")
        self.channel = channel
        self._notifier = notifier
        self._queue: Queue[Notice | None] = Queue(QUEUE)
        self._stopping = threading.Event()
        self._counting = threading.Lock()  # this thread counts while the loop reads the numbers
        self._sent, self._failed, self._skipped, self._dropped = 0, 0, 0, 0
        self._trouble: str | None = None
        self._last_sent_at: float | None = None

    def put(self, notice: Notice) -> None:
        try:
            self._queue.put_nowait(notice)
        except Full:
            self._dropped += 1
            self._notifier.record_failure(self.channel.name, notice, "its queue is full")

    def stop(self) -> None:
        self._stopping.set()
        with contextlib.suppress(Full):
            self._queue.put_nowait(None)

    def stats(self) -> dict[str, Any]:
        """The numbers as they were at one moment: the loop reads them while this thread counts."""
        with self._counting:
            return {
                "sent": self._sent,
                "failed": self._failed,
                "skipped": self._skipped,
                "dropped": self._dropped,
                "queued": self._queue.qsize(),
                "trouble": self._trouble,
                "last_sent_at": self._last_sent_at,
            }

    def run(self) -> None:
        while (notice := self._queue.get()) is not None and not self._stopping.is_set():
            self._deliver(notice)

    def _deliver(self, notice: Notice) -> None:
        for attempt in range(RETRIES + 1):
            left = tuple(one for one in notice.requests if self._notifier.still_waits(one.request_id))
            if not left:
                self._skipped += 1
                return
            notice = notice_for(notice.notice_id, notice.at, left)
            try:
                self.channel.send(notice, self._notifier.page)
            except NotificationFailed as error:
                if not error.again or attempt == RETRIES:
                    self._give_up(notice, str(error))
                    return
                if self._stopping.wait(backoff(attempt)):
                    return
            else:
                self._succeeded()
                return

    def _succeeded(self) -> None:
        if self._trouble is not None:
            logger.info("notifications are sent again", channel=self.channel.name)
        with self._counting:
            self._sent += 1
            self._last_sent_at = time.time()
            self._trouble = None

    def _give_up(self, notice: Notice, error: str) -> None:
        """Record a failure; a problem that lasts is logged once."""
        if self._trouble is None:
            logger.warning("a notification was not sent", channel=self.channel.name, error=error, next="qd notify test")
        with self._counting:
            self._failed += 1
            self._trouble = error
        self._notifier.record_failure(self.channel.name, notice, error)


def backoff(attempt: int, draw: Callable[[float, float], float] = random.uniform) -> float:
    """How long to wait before the next try: up to twice as long each time, at random so that tries do not come
    together."""
    return draw(0.25, 1.0) * BACKOFF_SECONDS * 2.0**attempt
