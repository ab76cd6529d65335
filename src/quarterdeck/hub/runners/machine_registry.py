"""The machines of the hub as they are now: enrolled, connected, catching up, away, or in conflict."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.api.backend import RunnerEntry
from quarterdeck.hub.store.enrolments import Enrolment, Machine, digest_of
from quarterdeck.link.holders import Holders
from quarterdeck.link.messages import AnyHubMessage
from quarterdeck.views.versions import is_older


class RunnerConnection(Protocol):
    """The sending side of a connected runner."""

    @property
    def epoch(self) -> int:
        """The epoch of its registration."""

    @property
    def backlog(self) -> int:
        """How many events it still has to send."""

    def send(self, message: AnyHubMessage) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


class RivalView(Struct, frozen=True, kw_only=True):
    """A second runner that was refused, as another with its identity was connected."""

    address: str
    at: float


class HubRunnerEntry(RunnerEntry, frozen=True, kw_only=True):
    """One machine at the hub. `state` is ready, catching_up (`behind` events are to come), away, conflict or expelled.
    `conflicts` counts events that came with another content than the stored one, `rivals` are runners that were refused
    as they have the identity of a connected one. `is_out_of_date` says that its version is older than the hub's."""

    enrolment_id: str
    behind: int
    conflicts: int
    rivals: list[RivalView]
    is_out_of_date: bool
    address: str | None
    seen_at: float | None
    problem: str | None


class MachineState:
    """One enrolled machine. Until a runner has registered it has only the id of its enrolment."""

    def __init__(self, enrolment: Enrolment, stored: Machine | None, conflicts: int = 0) -> None:
        self.enrolment = enrolment
        self.stored = stored
        self.conflicts = conflicts
        self.connection: RunnerConnection | None = None
        self.address: str | None = None
        self.since = stored.seen_at if stored else enrolment.created_at
        self.last_number = stored.last_number if stored else 0
        self.problem: str | None = None
        self.capabilities: list[str] = []

    @property
    def runner_id(self) -> str:
        return self.stored.runner_id if self.stored else self.enrolment.enrolment_id

    @property
    def machine(self) -> int | None:
        """The number of the machine in the store; None until a runner has registered."""
        return self.stored.machine if self.stored else None

    @property
    def name(self) -> str:
        return self.enrolment.name

    @property
    def is_connected(self) -> bool:
        return self.connection is not None

    @property
    def is_expelled(self) -> bool:
        return self.enrolment.expelled_at is not None


class MachineRegistry:
    """Every enrolled machine, and the connections that hold them."""

    def __init__(
        self,
        hub_version: str,
        enrolments: Iterable[Enrolment],
        machines: Iterable[Machine],
        conflicts: Mapping[int, int],
    ) -> None:
        self.holders = Holders()
        self._version = hub_version
        self._states: dict[str, MachineState] = {}
        self._by_digest: dict[str, str] = {}
        by_number = {machine.machine: machine for machine in machines}
        for enrolment in enrolments:
            stored = by_number.get(enrolment.machine) if enrolment.machine is not None else None
            self._states[enrolment.enrolment_id] = MachineState(
                enrolment, stored, conflicts.get(stored.machine, 0) if stored else 0
            )

    def learn_digests(self, digests: Mapping[str, str]) -> None:
        """The digest of each credential, with its enrolment."""
        self._by_digest.update(digests)

    def add(self, enrolment: Enrolment, token: str) -> MachineState:
        """A new enrolment."""
        state = self._states[enrolment.enrolment_id] = MachineState(enrolment, None)
        self._by_digest[digest_of(token)] = enrolment.enrolment_id
        return state

    def expel(self, state: MachineState, at: float) -> None:
        """A person has expelled a machine; another enrolment may have its identity now."""
        state.enrolment = replace(state.enrolment, expelled_at=at)
        self.holders.settle(state.runner_id)

    def of_token(self, token: str) -> MachineState | None:
        """The machine with this credential, also of an expelled one."""
        enrolment_id = self._by_digest.get(digest_of(token))
        return self._states.get(enrolment_id) if enrolment_id else None

    def __iter__(self) -> Iterator[MachineState]:
        return iter(self._states.values())

    def enrolled(self) -> list[MachineState]:
        """The machines that may connect, oldest first."""
        return [state for state in self if not state.is_expelled]

    def connected(self) -> list[MachineState]:
        return [state for state in self.enrolled() if state.is_connected]

    def find(self, runner_id: str) -> MachineState | None:
        """The machine with this id, or with the id of its enrolment; an expelled one only when there is no other."""
        found = [state for state in self if runner_id in (state.runner_id, state.enrolment.enrolment_id)]
        return next((state for state in found if not state.is_expelled), found[0] if found else None)

    def last_epoch(self, runner_id: str) -> int:
        """The last epoch of a machine, whichever credential it had then."""
        return max((one.stored.epoch for one in self if one.stored and one.stored.runner_id == runner_id), default=0)

    def by_number(self, machine: int) -> MachineState | None:
        """The machine with this number in the store."""
        found = [state for state in self if state.machine == machine]
        return next((state for state in found if not state.is_expelled), found[0] if found else None)

    def listed(self) -> list[MachineState]:
        """The machines that people see: one that was expelled only until it is enrolled again."""
        present = {state.runner_id for state in self.enrolled()}
        return [state for state in self if not state.is_expelled or state.runner_id not in present]

    def entry(self, state: MachineState) -> HubRunnerEntry:
        """A machine as the API shows it."""
        stored, connection = state.stored, state.connection
        rival = self.holders.rival(state.runner_id)
        return HubRunnerEntry(
            runner_id=state.runner_id,
            enrolment_id=state.enrolment.enrolment_id,
            name=state.name,
            version=stored.version if stored else "",
            state=self._state(state, has_rival=rival is not None),
            seq_no=state.last_number,
            since=state.since,
            behind=connection.backlog if connection else 0,
            conflicts=state.conflicts,
            rivals=[] if rival is None else [RivalView(address=rival.address, at=rival.at)],
            is_out_of_date=bool(stored and stored.version and is_older(stored.version, self._version)),
            address=state.address,
            seen_at=time.time() if connection else stored.seen_at if stored else None,
            problem=state.problem,
        )

    def _state(self, state: MachineState, *, has_rival: bool) -> str:
        if state.is_expelled:
            return "expelled"
        if has_rival or state.conflicts:
            return "conflict"
        if state.connection is None:
            return "away"
        return "catching_up" if state.connection.backlog else "ready"
