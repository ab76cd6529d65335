"""What the API of a hub serves: its machines, its store, and its own tokens."""

from __future__ import annotations

from msgspec import Struct

from quarterdeck.api.http.error_responses import ApiError, invalid, not_found
from quarterdeck.api.http.resource import one_of
from quarterdeck.hub.common_rules import CommonRules
from quarterdeck.hub.hub_health import HubHealth
from quarterdeck.hub.hub_tokens import HubTokens
from quarterdeck.hub.runners.machine_calls import MachineCalls
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.shown_views import HubSource
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.hub.store.hub_reader import HubReader
from quarterdeck.hub.store.machine_views import StoredView, views_named

KNOWN = "qd hub runners"


class HubBackend(Struct, frozen=True, kw_only=True):
    """Everything that the API serves; an endpoint names the parts that it needs."""

    runner_id: str
    registry: MachineRegistry
    commits: CommitQueue
    reader: HubReader
    source: HubSource
    calls: MachineCalls
    tokens: HubTokens
    rules: CommonRules
    health: HubHealth

    @property
    def hub(self) -> HubBackend:
        """All parts, for an endpoint that needs several."""
        return self

    def machine(self, runner_id: str) -> MachineState:
        """The machine with this id."""
        state = self.registry.find(runner_id)
        if state is None:
            raise not_found("machine", runner_id[:100], KNOWN)
        return state

    def machine_or_all(self, runner_id: str | None) -> MachineState | None:
        """The machine that narrows a list; None for all."""
        return None if runner_id is None else self.machine(runner_id)

    def only_machine(self) -> MachineState:
        """The only machine; several must be told apart by `runner_id`."""
        machines = self.registry.enrolled()
        if len(machines) == 1:
            return machines[0]
        if not machines:
            raise ApiError(409, "no_machine", "no machine is enrolled; enrol one: qd hub enroll NAME")
        raise invalid("runner_id", f"name one of the {len(machines)} machines; see: GET /api/v1/runners")

    async def view_named(self, table: str, name: str, runner_id: str | None) -> tuple[MachineState, StoredView]:
        """The one session or request with this id, and its machine."""
        found = await self.reader.in_thread(lambda: self.reader.ask(lambda db: views_named(db, table, name)))
        known = [(state, view) for view in found if (state := self.registry.by_number(view.machine)) is not None]
        if runner_id is not None:
            known = [(state, view) for state, view in known if state is self.machine(runner_id)]
        return one_of({one[0].runner_id: one for one in known}, table.removesuffix("s"), name, f"GET /api/v1/{table}")
