"""The one consumer of inputs: reduce, append, publish, perform. Every answer is on record before it is given."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import structlog
from msgspec.structs import replace

from quarterdeck.core.engine.messages import (
    Command,
    CommandReply,
    DaemonStopping,
    Decide,
    HookReceived,
    Input,
    StillWaiting,
    TranscriptRead,
    WaiterGone,
)
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request, Settings, State
from quarterdeck.daemon.loop.deadlines import Deadlines
from quarterdeck.daemon.loop.disk_reserve import DiskReserve
from quarterdeck.daemon.loop.effects import EffectPerformer
from quarterdeck.daemon.loop.envelopes import Envelopes
from quarterdeck.daemon.loop.housekeeper import Housekeeper
from quarterdeck.daemon.loop.input_batch import RecordedBatch, record_batch
from quarterdeck.daemon.loop.input_traits import is_slow, must_be_retried, subject_id
from quarterdeck.daemon.loop.offload import Offload
from quarterdeck.daemon.loop.queued_input import Envelope, QueuedInput
from quarterdeck.daemon.loop.retry import WriteRetry
from quarterdeck.daemon.loop.waiters import HookAnswer, HookPending, Waiters
from quarterdeck.daemon.telemetry.counters import Stats
from quarterdeck.errors import StoreError
from quarterdeck.store.log import Log
from quarterdeck.store.reader import Reader

BATCH = 512
"""Inputs of one transaction at most: a flood must not hold back the answers of those that came first."""

T = TypeVar("T")
Subscriber = Callable[[list[FeedEvent]], None]

logger = structlog.get_logger("loop")


class Loop:
    """Owns the state, the log and the waiting connections. Other parts assign themselves to `effects`. While events are
    published, `is_answering` says whether a client waits for the answer to a command among them."""

    def __init__(self, state: State, log: Log, reader: Reader, deadlines: Deadlines, disk: DiskReserve) -> None:
        self.state = state
        self.stats = Stats()
        self._subscribers: list[Subscriber] = []
        self._watchers: list[Callable[[list[Request]], None]] = []
        self._log = log
        self._reader = reader
        self._deadlines = deadlines
        self._disk = disk
        self._queue: deque[QueuedInput] = deque()
        self._scheduled = False
        self._stopped = self._stopping = False
        self.is_answering = False
        self._spares_reconnecting = False
        self._waiters = Waiters()
        self.effects = EffectPerformer(self._waiters, deadlines, self._held)
        self._envelopes = Envelopes(log, self._waiters, self.find, self.submit, lambda one: self._publish([], [one]))
        self._offload = Offload()
        self._housekeeper = Housekeeper(log, disk, self._offload, state.seq_no)
        self._retry = WriteRetry(self._can_write, self._submit_again)
        deadlines.submit = self.submit

    @property
    def held(self) -> int:
        """The number of requests with a connected waiter."""
        return len(self._waiters)

    @property
    def queued(self) -> int:
        """How many inputs wait to be reduced."""
        return len(self._queue)

    def is_away(self, request_id: str) -> bool:
        """True if the agent that waits for this request has not come back after a restart."""
        return self._waiters.is_away(request_id)

    def held_since(self) -> float | None:
        """When the oldest request with a waiting agent was opened."""
        return self._waiters.since(self.state.requests)

    @property
    def damaged(self) -> str | None:
        """Why nothing can be recorded; None for a sound log."""
        return str(self._log.damage) if self._log.damage else None

    @property
    def trouble(self) -> str | None:
        """Why the last input could not be recorded; None as soon as the log can be written again."""
        return self._retry.reason

    @property
    def nearly_full(self) -> bool:
        """True if the disk has only room for decisions."""
        return self._disk.nearly_full

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call this with every batch of events once it is in the log. Called on the loop: it must return at once."""
        self._subscribers.append(subscriber)

    def watch_requests(self, watcher: Callable[[list[Request]], None]) -> None:
        """Call this with every changed request once that is in the log. Called on the loop: it must return at once."""
        self._watchers.append(watcher)

    def submit(self, event: Input) -> None:
        """Put an input in the queue."""
        self._put(QueuedInput(event))

    def receive(
        self, hook: HookReceived, envelope: Envelope | None = None, *, is_heavy: bool = False
    ) -> asyncio.Future[HookAnswer | HookPending]:
        """Take a hook call whose agent waits: for the record, and perhaps for a person. A heavy one is decided and
        recorded in a thread."""
        future: asyncio.Future[HookAnswer | HookPending] = asyncio.get_running_loop().create_future()
        queued = QueuedInput(hook, envelope, future, is_heavy=is_heavy)
        if envelope is not None and self._offload.is_busy:  # the thread may be recording the same envelope
            self._offload.when_idle(lambda: self._take(hook, queued, future))
        else:
            self._take(hook, queued, future)
        return future

    def _take(self, hook: HookReceived, queued: QueuedInput, future: asyncio.Future[HookAnswer | HookPending]) -> None:
        if self._stopped:
            future.set_result(HookAnswer(NoOpinion(), recorded=False, error="Quarterdeck is stopping"))
        elif queued.envelope is not None and self._envelopes.answer_repeat(hook, queued.envelope, self._queue, future):
            pass
        elif self._disk.nearly_full:
            future.set_result(HookAnswer(NoOpinion(), recorded=False, error="the disk is nearly full: free some space"))
        else:
            self._put(queued)

    async def wait_until_idle(self) -> None:
        """Wait until no thread works on the log."""
        while self._offload.is_busy:
            idle = asyncio.Event()
            self._offload.when_idle(idle.set)
            await idle.wait()

    async def command(self, command: Command) -> CommandReply:
        """Carry out a person's command and give its outcome."""
        if self._stopped:
            return CommandReply(
                request_id=subject_id(command), outcome="not_recorded", message="Quarterdeck is stopping"
            )
        if isinstance(command, Decide):
            command = replace(command, is_waiter_away=self.is_away(command.request_id))
        future: asyncio.Future[CommandReply] = asyncio.get_running_loop().create_future()
        self._put(QueuedInput(command, reply=future))
        return await future

    def find(self, request_id: str) -> Request | None:
        return self.state.requests.get(request_id) or self._reader.request(request_id)

    def leave(self, request_id: str, answer: asyncio.Future[HookAnswer]) -> None:
        """A waiting connection closed. The last one withdraws the request, unless the daemon itself has closed it, or
        lets go of an agent that comes back to the next daemon."""
        request = self.state.requests.get(request_id)
        comes_back = self._spares_reconnecting and request is not None and request.reconnects
        if self._waiters.leave(request_id, answer) and not self._stopped and not comes_back:
            self.submit(WaiterGone(request_id=request_id, at=time.time()))

    def _put(self, queued: QueuedInput) -> None:
        self._queue.append(queued)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._drain)

    def _drain(self) -> None:
        """Make one transaction of all that is queued: one sync to disk then serves many inputs."""
        if self._offload.is_busy:
            self._offload.when_idle(self._drain)
            return
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        self._scheduled = bool(self._queue)
        if self._scheduled:
            asyncio.get_running_loop().call_soon(self._drain)
        heavy = (queued.input for queued in batch if queued.is_heavy)
        if self._offload.needs_thread(heavy) or any(is_slow(queued.input) for queued in batch):
            self._offload.run(lambda: self._record(batch), lambda recorded: self._finish(batch, recorded))
        else:
            self._finish(batch, lambda: self._record(batch))

    def _record(self, batch: list[QueuedInput]) -> RecordedBatch:
        return record_batch(self.state, batch, self._log, is_heavy=self._offload.is_heavy)

    def _finish(self, batch: list[QueuedInput], record: Callable[[], RecordedBatch]) -> None:
        """Record a batch, and only then act on it: every answer that an agent gets is in the log first."""
        try:
            recorded = record()
        except StoreError as error:
            self._retry_with_reserve(batch, str(error))
            return
        except Exception as error:
            logger.exception("the log could not be written")
            self._fail(batch, f"{type(error).__name__}; see the daemon's log")
            return
        self.state = recorded.state
        events = recorded.events
        self.stats.count_batch(len(batch), len(self._queue), recorded.began, events)
        if events:
            self._retry.end()
        self.is_answering = any(queued.reply is not None for queued in batch)
        self._publish(events, recorded.requests)
        for queued, result in zip(batch, recorded.results, strict=True):
            if result is not None:
                self.effects.perform(queued, result)
            else:
                self.effects.release(queued, "Quarterdeck could not decide; see its log")
        self._housekeeper.after_batch(self.state)

    def _publish(self, events: list[FeedEvent], requests: list[Request]) -> None:
        """Publish the recorded events, and the requests apart: a finished tool changes one without an event of its
        own."""
        if events:
            self._notify_all(self._subscribers, events)
        if requests:
            self._notify_all(self._watchers, requests)

    def _notify_all(self, listeners: list[Callable[[T], None]], value: T) -> None:
        """Call every listener; one that fails does not keep the others from being called."""
        for listener in listeners:
            try:
                listener(value)
            except Exception:
                self.stats.subscriber_failures += 1
                logger.exception("a subscriber failed")

    def _retry_with_reserve(self, batch: list[QueuedInput], error: str) -> None:
        """Drop hook inputs, which are many and may be large; retry decisions and deadlines using the disk reserve."""
        dropped = [queued for queued in batch if isinstance(queued.input, HookReceived | TranscriptRead)]
        must = [queued for queued in batch if not isinstance(queued.input, HookReceived | TranscriptRead)]
        if self._log.damage is not None or not must or not self._disk.free_reserve():
            self._fail(batch, error)
            return
        if dropped:
            self._fail(dropped, error)
        self._queue.extendleft(reversed(must))
        self._schedule()

    def _fail(self, batch: list[QueuedInput], error: str) -> None:
        """Release the agents of a batch that is not on record. An input that no sender repeats (a deadline, a waiter
        that left, a summary) is kept and submitted again."""
        self.stats.not_recorded += len(batch)
        logger.error("not recorded", error=error, inputs=len(batch))
        self._disk.check()
        for queued in batch:
            self.effects.release(queued, error)
        if not self._stopped:
            self._retry.begin(error, [queued.input for queued in batch if must_be_retried(queued.input)])

    def _can_write(self) -> bool:
        return not self._offload.is_busy and self._log.can_write()

    def _submit_again(self, event: Input) -> None:
        """Submit a kept input. A request that still waits is checked at the present minute of the day instead."""
        if isinstance(event, StillWaiting):
            self._deadlines.check_after(event.request_id, 0.0)
        else:
            self.submit(event)

    def _held(self) -> None:
        """A connection began to wait. While the daemon stops, that is one wait too many."""
        if self._stopping:
            self.release(spares_reconnecting=self._spares_reconnecting)

    def change_settings(self, settings: Settings) -> None:
        """Decide by other settings from the next input on."""
        self.state = replace(self.state, settings=settings)

    def save_snapshot(self) -> None:
        """Keep the state so that the next start is quick."""
        self._housekeeper.save_snapshot(self.state)

    def release(self, *, spares_reconnecting: bool = False) -> None:
        """Prepare to stop: release agents with a dialog of their own now, and those that ask from here on at once.
        `spares_reconnecting`: those that come back to the next daemon keep waiting."""
        self._stopping = True
        self._spares_reconnecting = spares_reconnecting
        self.submit(DaemonStopping(at=time.time(), spares_sdk=True, spares_reconnecting=spares_reconnecting))

    def stop(self) -> None:
        """Release every agent that does not come back, record that, and take nothing more."""
        self._stopped = True
        self._housekeeper.stop()
        self._deadlines.close()
        self._retry.close()
        self._offload.finish()
        stopping = DaemonStopping(at=time.time(), spares_reconnecting=self._spares_reconnecting)
        self._queue.append(QueuedInput(stopping))
        while self._queue:
            self._drain()
            self._offload.finish()
        self.save_snapshot()
