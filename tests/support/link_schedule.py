"""A runner, a hub and the line between them, driven by a schedule: a list of small numbers, one for each step.

The line may cut, double, reorder and delay frames; either side may die; the hub may be restored from an older backup;
the runner may trim what was acknowledged. At the end a fair line lets everything arrive."""

from __future__ import annotations

from collections import deque

from msgspec import Raw

from quarterdeck.link.actions import (
    ClaimIdentity,
    CloseLink,
    CompareEvents,
    HubAction,
    RunnerAction,
    SaveCursor,
    SendMessage,
    StoreEvents,
)
from quarterdeck.link.backoff import Backoff
from quarterdeck.link.holders import Holders
from quarterdeck.link.hub_link import HubLink
from quarterdeck.link.messages import (
    AnyHubMessage,
    AnyRunnerMessage,
    LinkEvent,
    LinkSettings,
    RegisterMessage,
)
from quarterdeck.link.runner_link import LinkState, RunnerLink

RUNNER = "runner-1"
SETTINGS = LinkSettings(heartbeat_seconds=15.0, batch_size=3)


def hash_of(seq_no: int) -> str:
    return f"h{seq_no}"


def event_of(seq_no: int) -> LinkEvent:
    return LinkEvent(seq_no=seq_no, hash=hash_of(seq_no), event=Raw(b"{}"))


def gap_of(first: int, last: int) -> LinkEvent:
    return LinkEvent(seq_no=last, first=first, hash=f"gap{first}-{last}", event=Raw(b"{}"))


class Connection:
    """One connection: frames on their way in both directions, and the hub's end."""

    def __init__(self, link: HubLink) -> None:
        self.link = link
        self.to_hub: deque[AnyRunnerMessage] = deque()
        self.to_runner: deque[AnyHubMessage] = deque()
        self.unsaved: deque[LinkEvent] = deque()


class Story:
    """Everything that is there, and what may happen to it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.last = 3
        self.trimmed = 0
        self.cursor = 0
        self.starts = 1
        self.epochs = 0
        self.epochs_given: list[int] = []
        self.conflicts: list[int] = []
        self.was_restored = False
        self.stored: list[LinkEvent] = []
        self.backup: list[LinkEvent] = []
        self.holders = Holders()
        self.runner = self.new_runner()
        self.connection: Connection | None = None
        self.old: list[Connection] = []
        usual = [self.append] * 6 + [self.connect] * 8 + [self.send] * 10 + [self.save] * 10 + [self.late_frame] * 2
        usual += [self.deliver_to_hub] * 16 + [self.deliver_to_runner] * 14 + [self.trim, self.tick] * 2
        faults = [self.double_to_hub, self.reorder_to_hub, self.double_to_runner, self.reorder_to_runner, self.cut]
        faults += [self.restart_runner, self.restart_hub, self.back_up, self.restore, self.skip_time]
        self.events = [*usual * 3, *faults]

    def new_runner(self) -> RunnerLink:
        return RunnerLink(self.cursor, Backoff(1.0, 30.0), 15.0, self.now)

    def play(self, schedule: bytes) -> None:
        for step in schedule:
            self.events[step % len(self.events)]()

    # what happens to the runner

    def append(self) -> None:
        self.last += 1

    def trim(self) -> None:
        """Retention never passes the cursor."""
        self.trimmed = max(self.trimmed, min(self.cursor, self.last - 1))

    def connect(self) -> None:
        if self.connection is not None or self.runner.state is not LinkState.DISCONNECTED:
            return
        self.now = max(self.now, self.runner.connect_at)
        self.runner.connect(self.now)
        self.connection = Connection(HubLink(RUNNER, SETTINGS, self.now))
        register = RegisterMessage(
            runner_id=RUNNER, name="box", seq_no=self.last, instance=str(self.starts), active_sessions=[]
        )
        self.perform(self.runner.open(register, self.now))

    def send(self) -> None:
        span = self.runner.next_range(self.last)
        if span is None or self.connection is None:
            return
        begin = max(span.after, self.trimmed) + 1
        rows = [event_of(n) for n in range(begin, min(self.last, begin + span.limit - 1) + 1)]
        message = self.runner.batch(rows, self.trimmed, gap_of)
        if message is not None:
            self.connection.to_hub.append(message)

    def deliver_to_runner(self) -> None:
        if self.connection is not None and self.connection.to_runner:
            self.perform(self.runner.receive(self.connection.to_runner.popleft(), self.now))

    def double_to_runner(self) -> None:
        if self.connection is not None and self.connection.to_runner:
            self.connection.to_runner.appendleft(self.connection.to_runner[0])

    def reorder_to_runner(self) -> None:
        if self.connection is not None:
            self.connection.to_runner.rotate(1)

    def restart_runner(self) -> None:
        """The daemon dies: the log and the cursor are what was written."""
        self.cut()
        self.starts += 1
        self.runner = self.new_runner()

    def perform(self, actions: list[RunnerAction]) -> None:
        for action in actions:
            match action:
                case SendMessage(message=message):
                    assert self.connection is not None
                    self.connection.to_hub.append(message)  # type: ignore[arg-type]
                case SaveCursor(seq_no=seq_no):
                    self.cursor = seq_no
                case CloseLink():
                    self.cut()

    # what happens to the line

    def cut(self) -> None:
        """The runner sees the end of the connection at once; the hub keeps its end and may still read late frames."""
        if self.connection is None:
            return
        self.old.append(self.connection)
        self.connection = None
        self.runner.close(self.now, 0.5)

    def deliver_to_hub(self) -> None:
        if self.connection is not None and self.connection.to_hub:
            self.hub_takes(self.connection)

    def double_to_hub(self) -> None:
        if self.connection is not None and self.connection.to_hub:
            self.connection.to_hub.appendleft(self.connection.to_hub[0])

    def reorder_to_hub(self) -> None:
        if self.connection is not None:
            self.connection.to_hub.rotate(1)

    def late_frame(self) -> None:
        for connection in self.old:
            if connection.to_hub:
                self.hub_takes(connection)
                return

    def tick(self) -> None:
        self.now += 16.0
        self.perform(self.runner.tick(self.now))
        if self.connection is not None:
            self.hub_performs(self.connection, self.connection.link.tick(self.now))

    def skip_time(self) -> None:
        """A day passes, as in a suspend."""
        self.now += 86_400.0

    # what happens to the hub

    def hub_takes(self, connection: Connection) -> None:
        self.hub_performs(connection, connection.link.receive(connection.to_hub.popleft()))

    def hub_performs(self, connection: Connection, actions: list[HubAction]) -> None:
        for action in actions:
            match action:
                case SendMessage(message=message):
                    connection.to_runner.append(message)  # type: ignore[arg-type]
                case ClaimIdentity(message=register):
                    self.claim(connection, register)
                case StoreEvents(events=events):
                    connection.unsaved += events
                case CompareEvents(events=events):
                    self.compare(connection, [event for event in events if event.first is None])
                case CloseLink():
                    self.hub_ends(connection)

    def claim(self, connection: Connection, register: RegisterMessage) -> None:
        if connection is not self.connection:  # a late registration: its line is known to be dead
            connection.link.close()
            return
        current = self.holders.holder(RUNNER)
        if current is not None and current.instance != register.instance:
            self.holders.release(RUNNER, current.epoch)  # the process is gone, and so is its line
        claim = self.holders.claim(RUNNER, register.instance, self.epochs)
        assert claim.holder is not None
        self.epochs = claim.holder.epoch
        self.epochs_given.append(self.epochs)
        last = self.stored[-1] if self.stored else None
        accepted = connection.link.accept(
            last.seq_no if last else 0, last.hash if last else "", self.epochs, self.now, []
        )
        self.hub_performs(connection, accepted)

    def compare(self, connection: Connection, events: list[LinkEvent]) -> None:
        known = {event.seq_no: event.hash for event in [*self.stored, *connection.unsaved] if event.first is None}
        self.conflicts += [e.seq_no for e in events if known.get(e.seq_no, e.hash) != e.hash]

    def save(self) -> None:
        """The hub writes the next event, and acknowledges it. Nothing of an older epoch is written."""
        for connection in [*self.old, *([self.connection] if self.connection else [])]:
            if connection.unsaved and self.holders.is_current(RUNNER, connection.link.epoch):
                event = connection.unsaved.popleft()
                self.stored.append(event)
                self.hub_performs(connection, connection.link.store(event.seq_no))

    def hub_ends(self, connection: Connection) -> None:
        """The hub's end closes. What it had not written is lost."""
        connection.link.close()
        connection.unsaved.clear()
        self.holders.release(RUNNER, connection.link.epoch)
        if connection is self.connection and not connection.to_runner:
            self.cut()

    def restart_hub(self) -> None:
        """The hub is killed: it keeps what it has written, and the last epoch."""
        for connection in [*self.old, *([self.connection] if self.connection else [])]:
            connection.link.close()
            connection.unsaved.clear()
        self.old.clear()
        self.holders = Holders()
        self.cut()

    def back_up(self) -> None:
        self.backup = list(self.stored)

    def restore(self) -> None:
        """The hub is restored from its backup. The epoch is kept elsewhere, or begins above the old ones."""
        self.restart_hub()
        self.was_restored |= len(self.backup) < len(self.stored)
        self.stored = list(self.backup)

    # the end

    def settle(self) -> None:
        """A fair line, until the hub has everything."""
        self.cut()
        for _ in range(10_000):
            if self.connection is not None and self.connection.link.state == "closed" and not self.connection.to_runner:
                self.cut()
            self.connect()
            self.send()
            self.deliver_to_hub()
            self.save()
            self.deliver_to_runner()
            if self.runner.state is LinkState.READY and self.runner.cursor == self.last:
                return
        raise AssertionError(f"never settled: {self.runner.state}, {self.runner.trouble}, {self.stored}")
