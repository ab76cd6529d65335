"""The hub's side of the link: one connection of a runner, from its registration to its end."""

from __future__ import annotations

from enum import StrEnum

from quarterdeck.link.actions import (
    ClaimIdentity,
    CloseLink,
    CompareEvents,
    HandleMessage,
    HubAction,
    SendMessage,
    StoreEvents,
)
from quarterdeck.link.heartbeat import Heartbeat
from quarterdeck.link.messages import (
    HEARTBEAT_DEAD,
    PROTOCOL,
    REFUSED,
    AnyRunnerMessage,
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

REGISTER_SECONDS = 10.0
MOST_EVENTS = 1000


class HubState(StrEnum):
    """The states of a connection at the hub."""

    WAITING = "waiting"
    CLAIMING = "claiming"
    REGISTERED = "registered"
    CLOSED = "closed"


class HubLink:
    """One connection. `runner_id` is the one that the credential names; None for a credential that no runner has used
    yet, which accepts any. `received` is the last event that was handed
    over to be stored, `stored` the last one that is durable. Times are those of a monotonic clock."""

    def __init__(self, runner_id: str | None, settings: LinkSettings, now: float) -> None:
        self.runner_id = runner_id
        self.state = HubState.WAITING
        self.epoch = 0
        self.received = self.stored = 0
        self.goal = 0
        self._settings = settings
        self._heartbeat = Heartbeat(settings.heartbeat_seconds, now)
        self._register_by = now + REGISTER_SECONDS

    @property
    def is_registered(self) -> bool:
        return self.state is HubState.REGISTERED

    @property
    def backlog(self) -> int:
        """How many events this runner had at its registration that are not stored yet."""
        return max(0, self.goal - self.stored)

    @property
    def wake_at(self) -> float:
        """When `tick` has something to do next."""
        due = self._heartbeat.due_at
        return min(due, self._register_by) if self.state is HubState.WAITING else due

    def receive(self, message: AnyRunnerMessage) -> list[HubAction]:
        """Take a message of the runner."""
        if self.state is HubState.CLOSED:
            return []
        self._heartbeat.reset()
        match message:
            case RunnerPing():
                return [SendMessage(HubPong())]
            case RunnerPong():
                return []
            case RegisterMessage():
                return self._register(message)
        if not self.is_registered:
            return self.refuse("protocol", "the first message must be runner.register")
        if isinstance(message, BackfillMessage | EventsMessage):
            return self._events(message.events)
        return [HandleMessage(message)]

    def _register(self, message: RegisterMessage) -> list[HubAction]:
        if self.state is not HubState.WAITING:
            return self.refuse("protocol", "a connection registers once")
        if message.protocol != PROTOCOL:
            return self.refuse("protocol", f"this hub speaks protocol {PROTOCOL}, the runner {message.protocol}")
        if self.runner_id is not None and message.runner_id != self.runner_id:
            return self.refuse("unknown_runner", "this token is that of another machine")
        if message.seq_no < 0:
            return self.refuse("protocol", "a log has no negative length")
        self.state, self.runner_id = HubState.CLAIMING, message.runner_id
        self.goal = message.seq_no
        return [ClaimIdentity(message)]

    def accept(
        self, last_seq_no: int, last_hash: str, epoch: int, at: float, assigned_sessions: list[str]
    ) -> list[HubAction]:
        """Accept the registration, with a new epoch, and with what is stored of this runner."""
        if self.state is not HubState.CLAIMING:
            return []
        self.state, self.epoch = HubState.REGISTERED, epoch
        self.received = self.stored = last_seq_no
        return [
            SendMessage(
                RegisteredMessage(
                    last_seq_no=last_seq_no,
                    last_hash=last_hash,
                    epoch=epoch,
                    at=at,
                    assigned_sessions=assigned_sessions,
                    config=self._settings,
                )
            )
        ]

    def refuse(self, kind: str, message: str, retry_after: float | None = None) -> list[HubAction]:
        """Refuse the runner and close."""
        if self.state is HubState.CLOSED:
            return []
        self.state = HubState.CLOSED
        refusal = RefusalMessage(kind=kind, message=message, retry_after=retry_after)
        return [SendMessage(refusal), CloseLink(REFUSED, kind)]

    def _events(self, events: list[LinkEvent]) -> list[HubAction]:
        if len(events) > MOST_EVENTS:
            return self.refuse("protocol", f"a batch has at most {MOST_EVENTS} events")
        known, new = [], []
        following = self.received + 1
        for event in events:
            if event.begins > event.seq_no or event.begins < 1:
                return self.refuse("protocol", f"event {event.seq_no} stands for impossible numbers")
            if event.seq_no < following:
                known.append(event)
            elif event.begins == following:
                new.append(event)
                following = event.seq_no + 1
            else:
                return self.refuse("protocol", f"event {event.seq_no} came, but {following} is next")
        self.received = following - 1
        actions: list[HubAction] = [CompareEvents(known)] if known else []
        return [*actions, StoreEvents(new)] if new else actions

    def store(self, upto: int) -> list[HubAction]:
        """Acknowledge what is durable now, up to this number. It is the last number of what `StoreEvents` had, in its
        order."""
        if not self.is_registered or not self.stored <= upto <= self.received:
            return []
        self.stored = upto
        ack = BackfillAck(last_seq_no=upto) if upto <= self.goal else EventAck(last_seq_no=upto)
        return [SendMessage(ack)]

    def close(self) -> None:
        """The connection has ended, or another has taken its place: nothing that comes after counts."""
        self.state = HubState.CLOSED

    def tick(self, now: float) -> list[HubAction]:
        """Do what is due."""
        if self.state is HubState.CLOSED:
            return []
        if self.state is HubState.WAITING and now >= self._register_by:
            return self.refuse("protocol", f"no registration came within {REGISTER_SECONDS:.0f} s")
        match self._heartbeat.beat(now):
            case True:
                return [SendMessage(HubPing())]
            case False:
                self.state = HubState.CLOSED
                return [CloseLink(HEARTBEAT_DEAD, "two heartbeats were missed")]
        return []
