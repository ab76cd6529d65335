"""Routes of the machines themselves, and decisions on requests of several machines in one call."""

from __future__ import annotations

import time
from typing import Any

from litestar.params import FromPath, JSONBody
from msgspec import Raw, Struct

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import Caller
from quarterdeck.api.routes.decisions import Decisions
from quarterdeck.api.routes.tokens import Name, OkView
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.routes.forwarded import checked, machine_of
from quarterdeck.hub.routes.hub_endpoint import hub_endpoint
from quarterdeck.hub.runners.machine_registry import HubRunnerEntry, MachineState
from quarterdeck.hub.store.enrolments import add_enrolment, expel_enrolment, new_credential
from quarterdeck.hub.store.records import HubRecord, add_record
from quarterdeck.link.messages import REFUSED, RefusalMessage


class NewRunner(Struct, kw_only=True, forbid_unknown_fields=True):
    """A machine to enrol; `name` is what people know it by."""

    name: Name


class EnrolledRunner(Struct, kw_only=True):
    """The credential of a machine. It is only in this response."""

    runner_id: str
    name: str
    token: str


class HubRunnerList(Struct, kw_only=True):
    """Every enrolled machine."""

    runners: list[HubRunnerEntry]
    next: None = None


class HubDecisionResult(Struct, kw_only=True, omit_defaults=True):
    """The result of one of several decisions."""

    request_id: Any
    ok: bool
    decision: Raw | None = None
    error: dict[str, Any] | None = None


class HubDecisionResults(Struct, kw_only=True):
    """The results of several decisions, in their order."""

    decisions: list[HubDecisionResult]
    next: None = None


@hub_endpoint("list_runners")
async def list_runners(hub: HubBackend, runner: MachineState | None) -> HubRunnerList:
    """List the machines: connected, catching up, away since when, in conflict, out of date."""
    entries = [hub.registry.entry(state) for state in hub.registry.listed() if runner is None or state is runner]
    return HubRunnerList(runners=entries)


@hub_endpoint("enroll_runner")
async def enroll_runner(hub: HubBackend, caller: Caller, *, data: JSONBody[NewRunner]) -> EnrolledRunner:
    """Enrol a machine. Its token is shown once; the machine joins with it: qd hub join."""
    if any(state.name == data.name for state in hub.registry.enrolled()):
        raise ApiError(409, "taken", f"a machine called {data.name} is enrolled; choose another name, or expel it")
    enrolment_id, token = new_credential(data.name)
    at = time.time()
    record = _record("hub.enroll", caller, f"machine {data.name}", enrolment_id, at)

    def enrol(db: Any) -> Any:
        add_record(db, record)
        return add_enrolment(db, enrolment_id, token, data.name, caller.name, at)

    hub.registry.add(await hub.commits.submit(enrol), token)
    return EnrolledRunner(runner_id=enrolment_id, name=data.name, token=token)


@hub_endpoint("expel_runner")
async def expel_runner(hub: HubBackend, caller: Caller, *, machine_id: FromPath[str]) -> OkView:
    """Expel a machine: its token is worthless from now on. What it sent stays."""
    state = hub.machine(machine_id)
    if state.is_expelled:
        raise ApiError(409, "expelled", f"{state.name} was expelled before")
    at, enrolment_id = time.time(), state.enrolment.enrolment_id
    record = _record("hub.expel", caller, f"machine {state.name}", state.runner_id, at)

    def expel(db: Any) -> None:
        add_record(db, record)
        expel_enrolment(db, enrolment_id, at)

    await hub.commits.submit(expel)
    hub.registry.expel(state, at)
    if state.connection is not None:
        state.connection.send(RefusalMessage(kind="expelled", message="this machine was expelled from the hub"))
        state.connection.close(REFUSED, "expelled")
    return OkView()


@hub_endpoint("decide_many")
async def decide_many(hub: HubBackend, caller: Caller, *, data: JSONBody[Decisions]) -> HubDecisionResults:
    """Decide several requests, each by its id and digest, on their machines; each has its own result."""
    caller.count_decisions(len(data.decisions))
    results = []
    for one in data.decisions:
        result = HubDecisionResult(request_id=one.get("request_id"), ok=True)
        try:
            args = {key: value for key, value in one.items() if key != "runner_id"}
            if not isinstance(args.get("request_id"), str):
                raise ApiError(422, "invalid", "request_id: is required", field="request_id")
            state = await machine_of(hub, args, one.get("runner_id"))
            result.decision = Raw(checked(await hub.calls.command(state, "decide", args, caller)).body)
        except ApiError as error:
            result.ok, result.error = False, error.body["error"]
        results.append(result)
    return HubDecisionResults(decisions=results)


def _record(kind: str, caller: Caller, about: str, runner_id: str, at: float) -> HubRecord:
    who, _, surface = caller.name.partition(" via ")
    return HubRecord(kind=kind, at=at, who=who, surface=surface or None, about=about, runner_id=runner_id)
