"""Tells people of requests that wait: a bounded queue and a thread for each channel, so that nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import structlog

from quarterdeck.core.engine.messages import Notify, NotifyFailed
from quarterdeck.core.engine.notifications import Notice, notice_of
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.daemon.notify.channels import Channel
from quarterdeck.daemon.notify.http_post import NotSent

QUEUE = 64
RETRIES = 3
BACKOFF_SECONDS = 1.0
STOP_SECONDS = 0.5

logger = structlog.get_logger("notify")


class Notifier:
    """Takes orders on the loop and returns at once. `page` is where another machine reaches us, if it can."""

    def __init__(self, channels: list[Channel], loop: Loop) -> None:
        self.page: str | None = None
        self._loop = loop
        self._main = asyncio.get_running_loop()
        self._lines = {channel.name: Line(channel, self) for channel in channels}
        for line in self._lines.values():
            if missing := line.channel.trouble():
                logger.warning("nobody can be told", channel=line.channel.name, error=missing, next="qd doctor")
            line.start()

    def __call__(self, order: Notify) -> None:
        for name in order.channels:
            self._lines[name].put(order.notice)

    def still_waits(self, request_id: str) -> bool:
        """Safe on any thread: a state is never changed, only replaced."""
        request = self._loop.state.requests.get(request_id)
        return request is not None and request.status == "pending"

    def failed(self, channel: str, notice: Notice, error: str) -> None:
        """Put it on record, from any thread."""
        ids = tuple(one.request_id for one in notice.requests)
        told = NotifyFailed(channel=channel, request_ids=ids, error=error, at=time.time())
        with contextlib.suppress(RuntimeError):
            self._main.call_soon_threadsafe(self._loop.tell, told)

    def figures(self) -> dict[str, Any]:
        """What `GET /stats` shows of each channel."""
        return {name: line.figures() for name, line in self._lines.items()}

    def stop(self) -> None:
        """No more is sent; a channel that does not answer is left behind."""
        for line in self._lines.values():
            line.stop()
        for line in self._lines.values():
            line.join(STOP_SECONDS)


class Line(threading.Thread):
    """One channel's queue. Whoever was answered meanwhile is not told of."""

    def __init__(self, channel: Channel, notifier: Notifier) -> None:
        super().__init__(daemon=True, name=f"notify-{channel.name}")
        self.channel = channel
        self._notifier = notifier
        self._queue: queue.Queue[Notice | None] = queue.Queue(QUEUE)
        self._stopping = threading.Event()
        self._sent, self._failed, self._skipped, self._dropped = 0, 0, 0, 0
        self._trouble: str | None = None
        self._last_sent_at: float | None = None

    def put(self, notice: Notice) -> None:
        try:
            self._queue.put_nowait(notice)
        except queue.Full:
            self._dropped += 1
            self._notifier.failed(self.channel.name, notice, "its queue is full")

    def stop(self) -> None:
        self._stopping.set()
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)

    def figures(self) -> dict[str, Any]:
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
            notice = notice_of(notice.notice_id, notice.at, left)
            try:
                self.channel.send(notice, self._notifier.page)
            except NotSent as error:
                if not error.again or attempt == RETRIES:
                    self._gave_up(notice, str(error))
                    return
                if self._stopping.wait(pause(attempt)):
                    return
            else:
                self._succeeded()
                return

    def _succeeded(self) -> None:
        self._sent += 1
        self._last_sent_at = time.time()
        if self._trouble is not None:
            self._trouble = None
            logger.info("people are told again", channel=self.channel.name)

    def _gave_up(self, notice: Notice, error: str) -> None:
        """A trouble that lasts is logged once."""
        self._failed += 1
        if self._trouble is None:
            logger.warning("nobody was told", channel=self.channel.name, error=error, next="qd notify test")
        self._trouble = error
        self._notifier.failed(self.channel.name, notice, error)


def pause(attempt: int, draw: Callable[[float, float], float] = random.uniform) -> float:
    """How long to wait before the next try: twice as long at most each time, and never all at once."""
    return draw(0.25, 1.0) * BACKOFF_SECONDS * 2.0**attempt
