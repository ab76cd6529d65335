"""The parts of a hub in one process, without a socket: a real store, and runners that keep what they are sent."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from quarterdeck.api.http.credentials import ALL, Principal
from quarterdeck.api.http.principal import Caller, new_caller
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.hub.common_rules import CommonRules
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.hub_health import HubHealth
from quarterdeck.hub.hub_tokens import HubTokens
from quarterdeck.hub.runners.event_intake import EventIntake
from quarterdeck.hub.runners.machine_calls import MachineCalls
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.runners.machine_streams import MachineStreams
from quarterdeck.hub.shown_views import HubSource, ShownViews
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.hub.store.enrolments import add_enrolment, enrolments, machines
from quarterdeck.hub.store.hub_reader import HubReader
from quarterdeck.hub.store.hub_schema import open_hub_store
from quarterdeck.hub.store.rule_rows import read_rules
from quarterdeck.hub.store.token_rows import read_tokens
from quarterdeck.link.messages import AnyHubMessage, RegisterMessage, ViewMessage
from tests.support.hub import link_event

VERSION = "1.0.0"


def person(name: str = "ann", surface: str = "tui") -> Caller:
    """A person who may do everything."""
    return new_caller(Principal(name=name, kind="token", scopes=ALL, secret="x"), surface)


class KeptRunner:
    """A connected runner that keeps the messages it is sent."""

    def __init__(self, state: MachineState) -> None:
        self.state = state
        self.address = "127.0.0.1"
        self.epoch = self.backlog = 0
        self.sent: list[AnyHubMessage] = []
        self.closed: list[int] = []

    def send(self, message: AnyHubMessage) -> None:
        self.sent.append(message)

    def close(self, code: int, reason: str) -> None:
        self.closed.append(code)

    def last(self, kind: type[Any]) -> Any:
        """The last message of this kind."""
        return [message for message in self.sent if isinstance(message, kind)][-1]


class HubParts:
    """Everything of a hub but its servers."""

    def __init__(self, path: Path, db: Any, reader: HubReader) -> None:
        self.db, self.reader = db, reader
        self.commits = CommitQueue(db)
        self.registry = MachineRegistry(VERSION, enrolments(db), machines(db), {})
        self.shown = ShownViews()
        self.source = HubSource("hub-1", reader, self.registry, self.shown)
        self.live = Broadcaster(self.source)
        self.calls = MachineCalls(self.registry, self.commits)
        self.streams = MachineStreams()
        self.tokens = HubTokens(self.commits, read_tokens(db))
        self.rules = CommonRules(self.commits, self.registry, read_rules(db))
        attendance = Attendance()
        health: Any = (path / "hub.db", self.commits, self.source, self.shown, self.registry, attendance, [])
        self.failures: list[str] = []
        self.backend = HubBackend(
            runner_id="hub-1",
            registry=self.registry,
            commits=self.commits,
            reader=reader,
            source=self.source,
            calls=self.calls,
            tokens=self.tokens,
            rules=self.rules,
            health=HubHealth("hub-1", *health),
        )
        self.intake = EventIntake(
            *(self.registry, self.commits, self.source, self.shown, self.live, self.calls, self.streams),
            rules=self.rules,
            count_failure=self.failures.append,
        )

    def enroll(self, name: str) -> MachineState:
        """Enrol a machine."""
        token = secrets.token_hex()
        made = add_enrolment(self.db, f"e-{name}", token, name, "ann", 1.0)
        return self.registry.add(made, token)

    async def joined(self, name: str, **fields: Any) -> KeptRunner:
        """A machine that is enrolled and connected; its id is its name with `-1`."""
        return await self.connected(self.enroll(name), **fields)

    async def connected(self, state: MachineState, **fields: Any) -> KeptRunner:
        """Connect a machine that is enrolled."""
        runner: Any = KeptRunner(state)
        usual: Any = {"runner_id": f"{state.name}-1", "name": state.name, "seq_no": 0, "instance": "i"}
        register = RegisterMessage(**usual | {"version": VERSION} | fields)
        runner.epoch = (await self.intake.claim(runner, register)).machine.epoch
        self.intake.joined(runner, register)
        kept: KeptRunner = runner
        return kept

    async def send(self, runner: Any, *numbers: int) -> None:
        """The runner sends these events."""
        events = [link_event(runner.state.runner_id, n) for n in numbers]
        self.intake.stored(runner, await self.intake.store(runner, events))

    async def show(self, runner: Any, **view: Any) -> None:
        """The runner sends views."""
        await self.intake.show(runner, ViewMessage(**view))
        await self.commits.submit(lambda db: None)

    async def call(self, endpoint: Any, runner: MachineState | None = None, **arguments: Any) -> Any:
        """Call an endpoint of the hub as a person does."""
        given = {"caller": person(), "runner": runner}
        return await endpoint.call(self.backend, given, arguments)


@asynccontextmanager
async def hub_parts(path: Path) -> AsyncIterator[HubParts]:
    """The parts of a hub with an empty store in this folder."""
    with closing(open_hub_store(path / "hub.db", "normal")) as db, closing(HubReader(path / "hub.db")) as reader:
        parts = HubParts(path, db, reader)
        parts.commits.start()
        try:
            yield parts
        finally:
            await parts.commits.stop()
