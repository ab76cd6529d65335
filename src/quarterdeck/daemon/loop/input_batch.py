"""A batch of inputs, decided one after another and appended to the log in one transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence

import structlog
from msgspec import Struct

from quarterdeck.core.engine.messages import HookReceived
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.state import Request, State
from quarterdeck.core.reduce import Result, reduce
from quarterdeck.daemon.loop.queued_input import QueuedInput
from quarterdeck.store.log import Entry, Log

logger = structlog.get_logger("loop")


class RecordedBatch(Struct, frozen=True):
    """A batch that is in the log, and when its writing began. The result of an input that could not be decided is
    None."""

    state: State
    results: list[Result | None]
    began: float

    @property
    def events(self) -> list[FeedEvent]:
        return [event for result in self.results if result is not None for event in result.events]

    @property
    def requests(self) -> list[Request]:
        """Every changed request."""
        return [request for result in self.results if result is not None for request in result.requests.values()]


def record_batch(state: State, batch: Sequence[QueuedInput], log: Log, *, is_heavy: bool) -> RecordedBatch:
    """Decide and append a batch. Raises StoreError when it is not in the log: then nothing of it counts."""
    state, results = _reduce(state, batch)
    began = time.perf_counter()
    pairs = zip(batch, results, strict=True)
    entries = [entry for queued, result in pairs if (entry := _entry(queued, result, is_heavy=is_heavy))]
    if entries:
        log.append(entries)
    return RecordedBatch(state, results, began)


def _reduce(state: State, batch: Sequence[QueuedInput]) -> tuple[State, list[Result | None]]:
    results: list[Result | None] = []
    for queued in batch:
        try:
            result = reduce(state, queued.input)
        except Exception:  # `reduce` raises on no input; if it ever does, one input must not stop the daemon
            logger.exception("an input could not be decided", kind=type(queued.input).__name__)
            logger.debug("the input", input=queued.input)
            results.append(None)
            continue
        state = result.state
        results.append(result)
    return state, results


def _entry(queued: QueuedInput, result: Result | None, *, is_heavy: bool) -> Entry | None:
    if result is None or not (result.events or queued.envelope):
        return None
    envelope = (queued.envelope.request_id, queued.envelope.digest) if queued.envelope else None
    payload = queued.input.event.payload if isinstance(queued.input, HookReceived) else None
    views = (result.requests.values(), result.sessions.values())
    return Entry(result.events, payload, *views, envelope, is_heavy=is_heavy)
