"""The runner's side of the link: from the first attempt to a ready link, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from quarterdeck.link.actions import CloseLink, HandleMessage, RunnerAction, SaveCursor, SendMessage
from quarterdeck.link.backoff import Backoff
from quarterdeck.link.heartbeat import Heartbeat
from quarterdeck.link.messages import (
    BROKEN_RULE,
    HEARTBEAT_DEAD,
    AnyHubMessage,
    BackfillAck,
    BackfillMessage,
    EventAck,
    EventsMessage,
    HubPing,
    HubPong,
    LinkEvent,
    LinkSettings,
    RefusalMessage,
    RegisteredMessage,
    RegisterMessage,
    RunnerPing,
    RunnerPong,
)

REGISTER_SECONDS = 30.0
WINDOW_BATCHES = 20
"""Batches that may be on their way at a time: enough to keep a long line full, and little to send again."""

MOST_BATCH = 1000


class LinkState(StrEnum):
    """The states of a runner's link, in their order."""

    DISCONNECTED = "disconnected"
    CONNECTING = "connecting"
    REGISTERING = "registering"
    BACKFILLING = "backfilling"
    READY = "ready"


STREAMS = (LinkState.BACKFILLING, LinkState.READY)


class RowRange(Struct, frozen=True):
    """Rows of the log to read next: those after `after`, at most `limit`."""

    after: int
    limit: int


class RunnerLink:
    """One link over all its connections. `cursor` is the last event that the hub has acknowledged, `sent` the last one
    that was sent. Times are those of a monotonic clock."""

    def __init__(self, cursor: int, backoff: Backoff, heartbeat_seconds: float = 15.0, now: float = 0.0) -> None:
        self.state = LinkState.DISCONNECTED
        self.since = now
        self.cursor = self.sent = cursor
        self.epoch = 0
        self.settings = LinkSettings(heartbeat_seconds=heartbeat_seconds)
        self.connect_at = now
        self.trouble: tuple[str, str] | None = None
        self._goal = 0
        self._overlap = ""
        self._has_diverged = False
        self._failure: tuple[str, str] | None = None
        self._backoff = backoff
        self._heartbeat_seconds = heartbeat_seconds
        self._heartbeat = Heartbeat(heartbeat_seconds, now)
        self._retry_after: float | None = None
        self._hub_clock = 0.0
        self._register_by = 0.0

    @property
    def is_open(self) -> bool:
        """True when events may be sent."""
        return self.state in STREAMS

    @property
    def wake_at(self) -> float:
        """When `tick` has something to do next."""
        due = self._heartbeat.due_at
        return min(due, self._register_by) if self.state is LinkState.REGISTERING else due

    def hub_time(self, now: float) -> float:
        """The time on the hub's clock. Its difference to ours does not matter."""
        return self._hub_clock + now

    def connect(self, now: float) -> None:
        """Begin an attempt."""
        self._enter(LinkState.CONNECTING, now)
        self._retry_after = None
        self._failure = None
        self._has_diverged = False

    def open(self, register: RegisterMessage, now: float) -> list[RunnerAction]:
        """Register on a new connection. Everything up to the runner's last event must be acknowledged before the link
        is ready."""
        self._enter(LinkState.REGISTERING, now)
        self._goal = register.seq_no
        self._heartbeat = Heartbeat(self._heartbeat_seconds, now)
        self._register_by = now + REGISTER_SECONDS
        return [SendMessage(register)]

    def receive(self, message: AnyHubMessage, now: float) -> list[RunnerAction]:
        """Take a message of the hub."""
        if self.state in (LinkState.DISCONNECTED, LinkState.CONNECTING):
            return []
        self._heartbeat.reset()
        match message:
            case HubPing():
                return [SendMessage(RunnerPong())]
            case HubPong():
                return []
            case RefusalMessage():
                self._retry_after = message.retry_after
                return self._fail(message.kind, message.message, BROKEN_RULE)
            case RegisteredMessage():
                return self._registered(message, now)
        if not self.is_open:
            return self._fail("protocol", f"the hub sent {type(message).__name__} before it registered this machine")
        if isinstance(message, BackfillAck | EventAck):
            return self._acknowledged(message.last_seq_no, now)
        return [HandleMessage(message)]

    def _registered(self, message: RegisteredMessage, now: float) -> list[RunnerAction]:
        if self.state is not LinkState.REGISTERING:
            return self._fail("protocol", "the hub registered this machine twice on one connection")
        if message.last_seq_no < 0 or message.epoch < 1:
            return self._fail("protocol", "the hub sent a registration with impossible numbers")
        if message.last_seq_no > self._goal:
            return self._fail(
                "conflict",
                f"the hub has {message.last_seq_no} events of this machine, its log has only {self._goal}: the log was "
                "replaced, or another machine uses this identity",
            )
        self.trouble = None
        self.epoch, self._hub_clock = message.epoch, message.at - now
        seconds, size = message.config.heartbeat_seconds, message.config.batch_size
        self.settings = LinkSettings(
            heartbeat_seconds=seconds if 0.05 <= seconds <= 3600 else self._heartbeat_seconds,
            batch_size=min(max(1, size), MOST_BATCH),
            withhold=message.config.withhold,
        )
        self._heartbeat = Heartbeat(self.settings.heartbeat_seconds, now)
        self.cursor = self.sent = message.last_seq_no
        self._overlap = message.last_hash if message.last_seq_no else ""
        self._enter(LinkState.BACKFILLING, now)
        actions: list[RunnerAction] = [SaveCursor(self.cursor), HandleMessage(message)]
        self._check_ready(now)
        return actions

    def _acknowledged(self, seq_no: int, now: float) -> list[RunnerAction]:
        if seq_no > self.sent:
            return self._fail("protocol", f"the hub acknowledged event {seq_no}, but only {self.sent} were sent")
        if seq_no <= self.cursor:
            return []
        self.cursor = seq_no
        self._check_ready(now)
        return [SaveCursor(seq_no)]

    def _check_ready(self, now: float) -> None:
        if self.state is LinkState.BACKFILLING and self.cursor >= self._goal:
            self._enter(LinkState.READY, now)

    def next_range(self, last: int) -> RowRange | None:
        """The rows to send next, of a log whose last event is `last`; None when there are none, or when enough are on
        their way. The first read of a connection begins with the event that the hub has last, to compare it."""
        size = self.settings.batch_size
        if not self.is_open or self._has_diverged or (self.sent >= last and not self._overlap):
            return None
        if self.sent - self.cursor > (WINDOW_BATCHES - 1) * size:
            return None
        return RowRange(self.sent - 1 if self._overlap else self.sent, size)

    def batch(
        self, rows: Sequence[LinkEvent], trimmed: int, gap: Callable[[int, int], LinkEvent]
    ) -> BackfillMessage | EventsMessage | None:
        """The message with the rows that were read for `next_range`. `trimmed` is the last event that left the log:
        `gap` makes the event that stands for those that the hub will never get."""
        events = list(rows)
        if self._overlap:
            overlap, self._overlap = self._overlap, ""
            is_there = bool(events) and events[0].seq_no == self.sent
            if is_there and events[0].hash != overlap:
                self._has_diverged = True
                self._failure = self.trouble = (
                    "conflict",
                    f"event {self.sent} is another one at the hub: the log was replaced, or another machine uses this "
                    "identity",
                )
                return BackfillMessage(events=events[:1])  # so the hub sees the conflict as well
            events = events[is_there:]
        if trimmed > self.sent:
            events = [event for event in events if event.seq_no > trimmed]
            events.insert(0, gap(self.sent + 1, trimmed))
        if not events:
            return None
        following = self.sent + 1
        for event in events:
            if event.begins != following:
                raise ValueError(f"event {following} is missing in the log")
            following = event.seq_no + 1
        self.sent = following - 1
        is_live = self.state is LinkState.READY
        return EventsMessage(events=events) if is_live else BackfillMessage(events=events)

    def tick(self, now: float) -> list[RunnerAction]:
        """Do what is due."""
        if self.state in (LinkState.DISCONNECTED, LinkState.CONNECTING):
            return []
        if self.state is LinkState.REGISTERING and now >= self._register_by:
            return self._fail("protocol", f"the hub did not answer the registration for {REGISTER_SECONDS:.0f} s")
        match self._heartbeat.beat(now):
            case True:
                return [SendMessage(RunnerPing())]
            case False:
                return self._fail("silent", "the hub did not answer two heartbeats", HEARTBEAT_DEAD)
        return []

    def close(self, now: float, chance: float, trouble: tuple[str, str] | None = None) -> None:
        """The connection has ended, or could not be made: wait before the next attempt. `chance` is a random number
        from 0 to 1."""
        if self.state is LinkState.READY:
            self._backoff.ready_for(now - self.since)
        if self.state is not LinkState.DISCONNECTED:
            self._enter(LinkState.DISCONNECTED, now)
        self.trouble = self._failure or trouble or self.trouble
        self.sent = self.cursor
        self._overlap = ""
        self.connect_at = now + self._backoff.next_delay(chance, self._retry_after)

    def _fail(self, kind: str, reason: str, code: int = BROKEN_RULE) -> list[RunnerAction]:
        self._failure = self.trouble = (kind, reason)
        self.state = LinkState.CONNECTING  # nothing that comes after counts
        return [CloseLink(code, reason)]

    def _enter(self, state: LinkState, now: float) -> None:
        self.state, self.since = state, now
