"""The one consumer: reduce, append, publish, perform. Nothing is answered that is not on record."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import structlog
from msgspec import Struct

from quarterdeck.core.engine.messages import (
    Answer,
    Command,
    Deadline,
    Heard,
    HolderGone,
    Input,
    InputRefused,
    LookAfter,
    Notify,
    Reply,
    StillWaiting,
    Stopping,
    TranscriptRead,
    Unwatch,
    WakeAfter,
)
from quarterdeck.core.engine.session_messages import Adjust, Deliver, Finish, Halt, Launch, Work
from quarterdeck.core.engine.step import decision_told
from quarterdeck.core.model.decisions import NoOpinion
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request, State
from quarterdeck.core.reduce import Result, reduce
from quarterdeck.daemon.loop.deadlines import Waiting
from quarterdeck.daemon.loop.disk_reserve import Disk
from quarterdeck.daemon.loop.input_traits import about, is_long, is_said_once
from quarterdeck.daemon.loop.offload import HeavyWork
from quarterdeck.daemon.loop.retry import Trouble
from quarterdeck.daemon.loop.waiters import QUIET, Held, Holders, Told, settle
from quarterdeck.daemon.telemetry.counters import Stats
from quarterdeck.errors import StoreError
from quarterdeck.store.log import Entry, Log
from quarterdeck.store.reader import Reader

SNAPSHOT_EVERY = 5_000
BATCH = 512
IDLE_SECONDS = 0.05
INDEX_AT_LEAST = 20_000

T = TypeVar("T")
Subscriber = Callable[[list[FeedEvent]], None]

logger = structlog.get_logger("loop")


class Envelope(Struct, frozen=True):
    """A client's own id for what it sent, and the digest of its payload."""

    request_id: str
    digest: bytes


class _Said(Struct):
    """An input in the queue, and who wants to hear how it ended."""

    told: Input
    envelope: Envelope | None = None
    answer: asyncio.Future[Told | Held] | None = None
    reply: asyncio.Future[Reply] | None = None
    is_heavy: bool = False


class _Recorded(Struct, frozen=True):
    """What became of a batch that is in the log: None for an input that could not be decided."""

    state: State
    results: list[Result | None]
    began: float


class Loop:
    """Owns the state, the log and everybody who waits. `notify` and `work` are set by the daemon and must return at
    once."""

    def __init__(self, state: State, log: Log, reader: Reader, waiting: Waiting, disk: Disk) -> None:
        self.state = state
        self.stats = Stats()
        self.notify: Callable[[Notify], None] = lambda order: None
        self.work: Callable[[Work], None] = lambda work: None
        self._subscribers: list[Subscriber] = []
        self._watchers: list[Callable[[list[Request]], None]] = []
        self._log = log
        self._reader = reader
        self._waiting = waiting
        self._disk = disk
        self._queue: deque[_Said] = deque()
        self._scheduled = False
        self._stopped = self._leaving = False
        self._holders = Holders()
        self._snapshot_at = state.seq_no
        self._indexing: asyncio.TimerHandle | None = None
        self._work = HeavyWork()
        self._trouble = Trouble(self._takes_writing, self._say_again)
        waiting.tell = self.tell

    @property
    def held(self) -> int:
        """How many requests have an agent waiting on a connection."""
        return len(self._holders)

    @property
    def queued(self) -> int:
        """How many inputs wait to be reduced."""
        return len(self._queue)

    def held_since(self) -> float | None:
        """When the oldest request that an agent waits on was asked."""
        return self._holders.since(self.state.requests)

    @property
    def damaged(self) -> str | None:
        """Why nothing can be recorded, if so."""
        return str(self._log.damage) if self._log.damage else None

    @property
    def trouble(self) -> str | None:
        """Why what was said last could not be recorded; None as soon as the log takes something again."""
        return self._trouble.reason

    @property
    def nearly_full(self) -> bool:
        """Whether the disk has only room for decisions."""
        return self._disk.nearly_full

    def subscribe(self, subscriber: Subscriber) -> None:
        """Hear of every batch of events once it is in the log. Called on the loop: it must return at once."""
        self._subscribers.append(subscriber)

    def watch_requests(self, watcher: Callable[[list[Request]], None]) -> None:
        """Hear of every request that changed, once that is in the log. Called on the loop: it must return at once."""
        self._watchers.append(watcher)

    def tell(self, told: Input) -> None:
        """Put an input in the queue."""
        self._put(_Said(told))

    def hear(
        self, heard: Heard, envelope: Envelope | None = None, *, is_heavy: bool = False
    ) -> asyncio.Future[Told | Held]:
        """An agent said something and waits: for the record, and perhaps for a person. What is heavy is decided and
        recorded in a thread."""
        future: asyncio.Future[Told | Held] = asyncio.get_running_loop().create_future()
        said = _Said(heard, envelope, future, is_heavy=is_heavy)
        if envelope is not None and self._work.is_busy:
            self._work.afterwards(lambda: self._take(heard, said, future))
        else:
            self._take(heard, said, future)
        return future

    def _take(self, heard: Heard, said: _Said, future: asyncio.Future[Told | Held]) -> None:
        if self._stopped:
            future.set_result(Told(NoOpinion(), recorded=False, error="Quarterdeck is stopping"))
        elif said.envelope is not None and self._known(heard, said.envelope, future):
            pass
        elif self._disk.nearly_full:
            future.set_result(Told(NoOpinion(), recorded=False, error="the disk is nearly full: free some space"))
        else:
            self._put(said)

    async def at_rest(self) -> None:
        """Until nothing is at work on the log in a thread."""
        while self._work.is_busy:
            rested = asyncio.Event()
            self._work.afterwards(rested.set)
            await rested.wait()

    async def command(self, command: Command) -> Reply:
        """What a person wants, and how it ended."""
        if self._stopped:
            return Reply(request_id=about(command), outcome="not_recorded", message="Quarterdeck is stopping")
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._put(_Said(command, reply=future))
        return await future

    def _known(self, heard: Heard, envelope: Envelope, future: asyncio.Future[Told | Held]) -> bool:
        """A client that re-sends its envelope joins what it started, or learns how it ended."""
        queued = next((s for s in self._queue if s.envelope and s.envelope.request_id == envelope.request_id), None)
        digest = queued.envelope.digest if queued and queued.envelope else self._log.envelope(envelope.request_id)
        if digest is None and self.find(envelope.request_id) is None:
            return False
        if digest != envelope.digest:
            error = f"request_id {envelope.request_id} was used for another payload"
            self.tell(InputRefused(event=heard.event, error=error))
            future.set_result(Told(NoOpinion(), recorded=False, error=error))
        elif queued is not None and queued.answer is not None:
            queued.answer.add_done_callback(lambda done: self._pass_on(done.result(), envelope.request_id, future))
        else:
            return self._answered_before(envelope.request_id, future)
        return True

    def _answered_before(self, request_id: str, future: asyncio.Future[Told | Held]) -> bool:
        request = self.find(request_id)
        if request is not None and request.status == "withdrawn":
            return False
        if request is not None and request.status == "pending":
            future.set_result(self._holders.join(request_id))
        else:
            future.set_result(Told(decision_told(request), request))
        return True

    def find(self, request_id: str) -> Request | None:
        return self.state.requests.get(request_id) or self._reader.request(request_id)

    def _pass_on(self, answer: Told | Held, request_id: str, future: asyncio.Future[Told | Held]) -> None:
        """Give a second connection the answer of the first."""
        settle(future, self._holders.join(request_id) if isinstance(answer, Held) else answer)

    def leave(self, request_id: str, answer: asyncio.Future[Told]) -> None:
        """A holder's connection closed; when nobody is left to wait, the request is withdrawn."""
        if self._holders.leave(request_id, answer):
            self.tell(HolderGone(request_id=request_id, at=time.time()))

    def _put(self, said: _Said) -> None:
        self._queue.append(said)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._drain)

    def _drain(self) -> None:
        """Everything that has queued becomes one transaction."""
        if self._work.is_busy:
            self._work.afterwards(self._drain)
            return
        batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
        self._scheduled = bool(self._queue)
        if self._scheduled:
            asyncio.get_running_loop().call_soon(self._drain)
        if self._work.takes(said.told for said in batch if said.is_heavy) or any(is_long(said.told) for said in batch):
            self._work.begin(lambda: self._record(batch), lambda recorded: self._finish(batch, recorded))
        else:
            self._finish(batch, lambda: self._record(batch))

    def _record(self, batch: list[_Said]) -> _Recorded:
        state, results = self._reduce(batch)
        began = time.perf_counter()
        self._append(batch, results)
        return _Recorded(state, results, began)

    def _finish(self, batch: list[_Said], record: Callable[[], _Recorded]) -> None:
        try:
            recorded = record()
        except StoreError as error:
            self._spare(batch, str(error))
            return
        except Exception as error:
            logger.exception("the log could not be written")
            self._fail(batch, f"{type(error).__name__}; see the daemon's log")
            return
        self.state, results = recorded.state, recorded.results
        events = [event for result in results if result is not None for event in result.events]
        self.stats.drained(len(batch), len(self._queue), recorded.began, events)
        changed = [request for result in results if result is not None for request in result.requests.values()]
        if events:
            self._trouble.end()
        self._publish(events, changed)
        for said, result in zip(batch, results, strict=True):
            if result is not None:
                self._perform(said, result)
            else:
                self._let_go(said, "Quarterdeck could not decide; see its log")
        self._index_when_idle()
        self._work.forget_light(self.state)
        if self.state.seq_no - self._snapshot_at >= SNAPSHOT_EVERY:
            self._snapshot_aside()

    def _reduce(self, batch: list[_Said]) -> tuple[State, list[Result | None]]:
        state = self.state
        results: list[Result | None] = []
        for said in batch:
            try:
                result = reduce(state, said.told)
            except Exception:
                logger.exception("an input could not be decided", told=type(said.told).__name__)
                logger.debug("the input", told=said.told)
                results.append(None)
                continue
            state = result.state
            results.append(result)
        return state, results

    def _append(self, batch: list[_Said], results: list[Result | None]) -> None:
        entries = []
        for said, result in zip(batch, results, strict=True):
            if result is not None and (result.events or said.envelope):
                envelope = (said.envelope.request_id, said.envelope.digest) if said.envelope else None
                views = (result.requests.values(), result.sessions.values())
                payload = said.told.event.payload if isinstance(said.told, Heard) else None
                entries.append(Entry(result.events, payload, *views, envelope, is_heavy=self._work.is_heavy))
        if entries:
            self._log.append(entries)

    def _publish(self, events: list[FeedEvent], requests: list[Request]) -> None:
        """Tell what was recorded, and how requests are now: a tool that ran changes one without an event of its own."""
        if events:
            self._tell_all(self._subscribers, events)
        if requests:
            self._tell_all(self._watchers, requests)

    def _tell_all(self, listeners: list[Callable[[T], None]], what: T) -> None:
        """One that fails harms nobody else."""
        for listener in listeners:
            try:
                listener(what)
            except Exception:
                self.stats.subscriber_failures += 1
                logger.exception("a subscriber failed")

    def _spare(self, batch: list[_Said], error: str) -> None:
        """What agents say is let go; a decision, and what ends a wait, is tried again with the disk's reserve."""
        must = [said for said in batch if not isinstance(said.told, Heard | TranscriptRead)]
        if self._log.damage is not None or not must or not self._disk.give_way():
            self._fail(batch, error)
            return
        if len(must) < len(batch):
            self._fail([said for said in batch if isinstance(said.told, Heard | TranscriptRead)], error)
        self._queue.extendleft(reversed(must))
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._drain)

    def _fail(self, batch: list[_Said], error: str) -> None:
        """Nothing of the batch is on record, so nobody is told anything but silence; what nobody would say again
        (a deadline, a holder that left, a summary) is tried again."""
        self.stats.not_recorded += len(batch)
        logger.error("not recorded", error=error, inputs=len(batch))
        self._disk.look()
        for said in batch:
            self._let_go(said, error)
        if not self._stopped:
            self._trouble.begin(error, [said.told for said in batch if is_said_once(said.told)])

    def _takes_writing(self) -> bool:
        return not self._work.is_busy and self._log.takes_writing()

    def _say_again(self, told: Input) -> None:
        """A request that still waits is looked at anew: the hour is another by now."""
        if isinstance(told, StillWaiting):
            self._waiting.look_after(told.request_id, 0.0)
        else:
            self.tell(told)

    def _let_go(self, said: _Said, error: str) -> None:
        told = Told(NoOpinion(), recorded=False, error=error)
        if said.answer is not None:
            settle(said.answer, told)
        if said.reply is not None and isinstance(said.told, Command):
            settle(said.reply, Reply(request_id=about(said.told), outcome="not_recorded", message=error))
        if isinstance(said.told, Stopping):
            self._holders.answer_all(told)
        if isinstance(said.told, Deadline):
            self._holders.answer(said.told.request_id, told)

    def _perform(self, said: _Said, result: Result) -> None:
        if said.answer is not None and result.told_nothing and not self._holders:
            settle(said.answer, QUIET)
            return
        own_id = said.told.event.id if isinstance(said.told, Heard) else None
        for effect in result.effects:
            if isinstance(effect, Answer):
                told = QUIET if effect.request is None else Told(effect.decision, effect.request)
                if effect.event_id == own_id and said.answer is not None:
                    settle(said.answer, told)
                if self._holders:
                    self._holders.answer(effect.event_id, told)
            elif isinstance(effect, WakeAfter):
                self._hold(said, result.state.requests[effect.request_id], effect.seconds)
            elif isinstance(effect, LookAfter):
                self._waiting.look_after(effect.request_id, effect.seconds)
            elif isinstance(effect, Notify):
                self.notify(effect)
            elif isinstance(effect, Unwatch):
                self._waiting.forget(effect.request_id)
            elif isinstance(effect, Launch | Deliver | Halt | Finish | Adjust):
                self.work(effect)
            elif said.reply is not None:
                settle(said.reply, effect)

    def _hold(self, said: _Said, request: Request, seconds: float) -> None:
        if said.answer is not None:
            settle(said.answer, self._holders.join(request.request_id))
        pid = said.told.event.context.pid if isinstance(said.told, Heard) else 0
        self._waiting.watch(request, seconds, pid)
        if self._leaving:
            self.let_go()

    def _index_when_idle(self) -> None:
        """The index waits for a pause, unless readers would have too much to walk."""
        if self._disk.nearly_full or self._work.is_busy:
            return
        if self._log.unindexed >= INDEX_AT_LEAST:
            self._log.index_sessions()
        if self._indexing is None and self._log.unindexed and not self._stopped:
            self._indexing = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._index, self._log.seq_no)

    def _index(self, seen: int) -> None:
        self._indexing = None
        if self._log.seq_no == seen and not self._work.is_busy:
            self._log.index_sessions()
        self._index_when_idle()

    def _snapshot_aside(self) -> None:
        """A snapshot of a heavy state takes as long as what made it heavy."""
        if self._work.is_heavy:
            self._work.begin(self.save_snapshot, lambda saved: saved())
        else:
            self.save_snapshot()

    def save_snapshot(self) -> None:
        """Keep the state so that the next start is quick; a failure costs only time then, and so does a disk that has
        no room for it."""
        if self._disk.nearly_full:
            return
        self._snapshot_at = self.state.seq_no
        try:
            self._log.save_snapshot(self.state, is_heavy=self._work.is_heavy)
        except StoreError as error:
            logger.warning("no snapshot", error=str(error))

    def let_go(self) -> None:
        """We are about to stop: whoever waits in a dialog of its own is answered now, and whoever asks from here on at
        once."""
        self._leaving = True
        self.tell(Stopping(at=time.time(), spares_sdk=True))

    def stop(self) -> None:
        """Let everybody go, record it, and take nothing more."""
        self._stopped = True
        if self._indexing is not None:
            self._indexing.cancel()
        self._waiting.close()
        self._trouble.close()
        self._work.end()
        self._queue.append(_Said(Stopping(at=time.time())))
        while self._queue:
            self._drain()
            self._work.end()
        self.save_snapshot()
