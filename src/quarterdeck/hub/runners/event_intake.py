"""What comes from runners: registrations, events and views. All of it is stored first, then shown."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.errors import Refused
from quarterdeck.hub.common_rules import CommonRules
from quarterdeck.hub.runners.machine_calls import STARTS, MachineCalls
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.runners.machine_streams import MachineStreams
from quarterdeck.hub.shown_views import HubSource, ShownViews
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.hub.store.enrolments import Machine, TakenIdentity, mark_seen, register_machine
from quarterdeck.hub.store.machine_views import RequestColumns, SessionColumns, store_view
from quarterdeck.hub.store.records import HubRecord, add_record
from quarterdeck.hub.store.stored_events import StoreResult, store_events
from quarterdeck.link.codec import BadMessage
from quarterdeck.link.messages import REPLACED, AttendingMessage, LinkEvent, RegisterMessage, ViewMessage
from quarterdeck.store.queries.event_lookup import PlacedEvent
from quarterdeck.store.queries.feed_query import readable_event

if TYPE_CHECKING:
    from quarterdeck.hub.runners.runner_socket import LinkedRunner

HASH = re.compile(r"(?:[0-9a-f]{2}){8,32}")

logger = structlog.get_logger("hub")


class Registration(Struct, frozen=True):
    """An accepted registration: what is stored of the machine, and the sessions that the hub started there."""

    machine: Machine
    assigned_sessions: tuple[str, ...]


class ArrivedColumns(Struct, frozen=True, gc=False):
    """The parts of an event that must be there before it is stored."""

    session_id: str
    kind: str
    at: float
    runner_id: str


_read_event = msgspec.json.Decoder(ArrivedColumns).decode
_read_session = msgspec.json.Decoder(SessionColumns).decode
_read_request = msgspec.json.Decoder(RequestColumns).decode


class EventIntake:
    """Takes what runners send, and publishes it once it is durable."""

    def __init__(
        self,
        registry: MachineRegistry,
        commits: CommitQueue,
        source: HubSource,
        shown: ShownViews,
        live: Broadcaster,
        calls: MachineCalls,
        streams: MachineStreams,
        rules: CommonRules,
        count_failure: Callable[[str], object],
    ) -> None:
        self.registry = registry
        self.calls = calls
        self.streams = streams
        self.count_failure = count_failure
        self.people = 0
        self._commits = commits
        self._source = source
        self._shown = shown
        self._live = live
        self._rules = rules

    async def claim(self, runner: LinkedRunner, message: RegisterMessage) -> Registration:
        """Give the identity to this connection, or raise the reason why not. A second holder is refused, and both are
        shown."""
        state, holders = runner.state, self.registry.holders
        runner_id, at = message.runner_id, time.time()
        last_epoch = self.registry.last_epoch(runner_id)
        claim = holders.claim(runner_id, message.instance, last_epoch, address=runner.address, at=at)
        if claim.holder is None:
            holder = holders.holder(runner_id)
            where = f" from {holder.address}" if holder and holder.address else ""
            await self._record(state, "hub.conflict", f"a second {runner_id} from {runner.address} was refused")
            raise TakenIdentity(f"{runner_id} is already connected{where}; expel one of the two: qd hub expel")
        if claim.replaced is not None and state.connection is not None:
            state.connection.close(REPLACED, "the same runner has connected again")
            state.connection = None
        enrolment_id, epoch = state.enrolment.enrolment_id, claim.holder.epoch

        def register(db: sqlite3.Connection) -> Registration:
            stored = register_machine(db, enrolment_id, runner_id, message.name, message.version, at)
            if stored.epoch != epoch:
                raise Refused(f"epoch {epoch} was expected, {stored.epoch} is next")
            return Registration(stored, _assigned(db, stored.machine))

        try:
            found = await self._commits.submit(register)
        except BaseException:
            holders.release(runner_id, epoch)
            raise
        rival = holders.rival(runner_id)
        if rival is not None and rival.instance == message.instance:
            holders.settle(runner_id)  # the other one has left, so there is only one again
        state.stored = found.machine
        state.enrolment = replace(state.enrolment, machine=found.machine.machine)
        state.last_number = found.machine.last_number
        return found

    def joined(self, runner: LinkedRunner, message: RegisterMessage) -> None:
        """The registration was answered: the machine is connected now."""
        state = runner.state
        state.connection, state.address, state.since = runner, runner.address, time.time()
        state.capabilities, state.problem = message.capabilities, None
        runner.send(AttendingMessage(people=self.people))
        runner.send(self._rules.message())
        logger.info("a machine has connected", runner=state.runner_id, epoch=runner.epoch, behind=runner.backlog)
        self._show_again(state)

    async def leave(self, runner: LinkedRunner) -> None:
        """The connection has ended."""
        state = runner.state
        if state.stored is not None:
            self.registry.holders.release(state.runner_id, runner.epoch)
        if state.connection is not runner:
            return
        state.connection, state.address, state.since = None, None, time.time()
        self.streams.end_all(state, "its machine is away")
        self._show_again(state)
        machine, at = state.machine, state.since
        if machine is not None and state.stored is not None:
            state.stored = replace(state.stored, seen_at=at)
            await self._commits.submit(lambda db: mark_seen(db, machine, at))

    def store(self, runner: LinkedRunner, events: Sequence[LinkEvent]) -> asyncio.Future[StoreResult]:
        """Store events. The future is done once they are on disk."""
        state = runner.state
        machine, epoch, at = state.machine, runner.epoch, time.time()
        assert machine is not None
        for event in events:
            _check(event, state.runner_id)
        return self._commits.submit(lambda db: store_events(db, machine, epoch, events, at))

    def stored(self, runner: LinkedRunner, result: StoreResult) -> None:
        """Publish what was stored."""
        state = runner.state
        state.last_number = max(state.last_number, result.last_number)
        placed = [
            PlacedEvent(place, event) for place, body in result.new if (event := readable_event(body)) is not None
        ]
        if result.new:
            self._source.place = max(self._source.place, result.new[-1][0])
            self._live.published(placed)
        if result.conflicts:
            state.conflicts += len(result.conflicts)
            numbers = ", ".join(str(one.number) for one in result.conflicts[:5])
            state.problem = f"event {numbers} came with another content than the stored one"
            logger.error("events conflict", runner=state.runner_id, numbers=numbers)
            task = asyncio.ensure_future(self._record(state, "hub.conflict", state.problem))
            task.add_done_callback(lambda _: None)

    async def show(self, runner: LinkedRunner, message: ViewMessage) -> None:
        """Store sessions and requests, and show them."""
        state, at = runner.state, time.time()
        machine = state.machine
        assert machine is not None
        try:
            for body in message.sessions:
                _read_session(bytes(body))
            for body in message.requests:
                _read_request(bytes(body))
        except msgspec.MsgspecError as error:
            raise BadMessage(f"a view that is none: {error}") from None
        stored = self._commits.submit(lambda db: store_view(db, machine, message, at))

        def show(done: asyncio.Future[None]) -> None:
            if done.cancelled() or done.exception() is not None:
                return
            sessions, requests = self._shown.apply(machine, message, at)
            self._publish(sessions, requests)

        stored.add_done_callback(show)

    def _show_again(self, state: MachineState) -> None:
        """Show what is live on a machine again: what can be done with it has changed."""
        if state.machine is not None:
            self._publish(*self._shown.of_machine(state.machine))

    def _publish(self, sessions: Sequence[object], requests: Sequence[object]) -> None:
        for topic, views in (("sessions", sessions), ("requests", requests)):
            if views:
                self._live.shown(topic, ((id(view), view) for view in views))

    async def _record(self, state: MachineState, kind: str, about: str) -> None:
        record = HubRecord(kind=kind, at=time.time(), who="system", about=about, runner_id=state.runner_id)
        await self._commits.submit(lambda db: add_record(db, record))

    def attending(self, people: int) -> None:
        """Tell every machine how many people look at the hub."""
        if people != self.people:
            self.people = people
            for state in self.registry.connected():
                if state.connection is not None:
                    state.connection.send(AttendingMessage(people=people))


def _check(event: LinkEvent, runner_id: str) -> None:
    """Raise for an event that cannot be stored."""
    if not HASH.fullmatch(event.hash):
        raise BadMessage(f"event {event.seq_no} has no hash")
    try:
        columns = _read_event(bytes(event.event))
        bytes(event.event).decode()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadMessage(f"event {event.seq_no} is none: {str(error)[:100]}") from None
    if columns.runner_id != runner_id:
        raise BadMessage(f"event {event.seq_no} is of {columns.runner_id[:80]}")


def _assigned(db: sqlite3.Connection, machine: int) -> tuple[str, ...]:
    """The sessions that the hub started on a machine and that still run, as far as it knows."""
    marks = ",".join("?" * len(STARTS))
    rows = db.execute(
        "SELECT DISTINCT s.session_id FROM commands c JOIN sessions s"  # noqa: S608
        " ON s.machine = c.machine AND s.session_id = json_extract(c.body,'$.session_id')"
        f" WHERE c.machine = ? AND c.status < 400 AND s.grp = 0 AND c.name IN ({marks})",
        (machine, *sorted(STARTS)),
    )
    return tuple(session_id for (session_id,) in rows)
