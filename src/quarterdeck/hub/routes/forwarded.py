"""Operations that a machine carries out: the hub sends them on, and answers what the machine answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, get_origin, get_type_hints

import msgspec
from litestar import MediaType, Response
from msgspec import Raw, Struct

from quarterdeck.api.http.endpoint import BODY, ApiEndpoint
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import Caller
from quarterdeck.hub.hub_backend import HubBackend
from quarterdeck.hub.runners.machine_calls import Reply
from quarterdeck.hub.runners.machine_registry import MachineState
from quarterdeck.hub.shown_views import shown_view
from quarterdeck.wire import write_json

Json = dict[str, Any]
EVERYWHERE = frozenset(
    {
        *("list_projects", "list_rules", "list_worktrees", "list_plugins", "list_offers", "list_marketplaces"),
        *("list_servers", "get_servers", "suggest_rules", "get_scan"),
    }
)
"""Reads that, without `runner_id`, ask every connected machine; the answers become one."""
OF_MANY_SESSIONS = frozenset({"interrupt_sessions", "end_sessions"})
"""Commands about several sessions, which may be those of several machines."""


class ForwardedEndpoint(ApiEndpoint):
    """An operation of the daemon's API, carried out by the machine that it is about."""

    def __init__(self, endpoint: ApiEndpoint) -> None:
        super().__init__(endpoint.operation.name, endpoint.function, endpoint.options)

    async def serve(
        self, backend: HubBackend, given: Mapping[str, Any], runner_id: str | None, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer a call of REST."""
        args = {**self.flat(arguments), **(given.get("body") or {})}
        reply = await self._forward(backend, given["caller"], args, runner_id)
        return Response(reply.body, status_code=reply.status, media_type=MediaType.JSON)

    async def command(self, backend: HubBackend, given: Mapping[str, Any], arguments: Any) -> Any:
        """Carry out a command of the WebSocket, whose arguments were checked."""
        args = dict(given["args"])
        runner_id = args.pop("runner_id", None)
        return Raw((await self._forward(backend, given["caller"], args, runner_id)).body)

    def flat(self, arguments: Mapping[str, Any]) -> Json:
        """The arguments from path and query by the names that a command has; those that were left out are not there."""
        found = {}
        for field in msgspec.structs.fields(self.arguments):
            value = arguments.get(field.name)
            if field.name in arguments and field.name != BODY and value is not None and value != field.default:
                found[field.encode_name] = value
        return found

    async def _forward(self, backend: HubBackend, caller: Caller, args: Json, runner_id: str | None) -> Reply:
        if self.operation.name == "decide":
            caller.count_decisions()
        if runner_id is None and self.operation.name in EVERYWHERE:
            return await self._ask_all(backend, caller, args)
        if self.operation.name in OF_MANY_SESSIONS and runner_id is None:
            return await self._stop_sessions(backend, caller, args)
        state = await machine_of(backend, args, runner_id)
        try:
            return checked(await self._send(backend, state, caller, args))
        except ApiError as error:
            if error.body["error"]["kind"] == "runner_away" and "request_id" in args:
                _, view = await backend.view_named("requests", args["request_id"], state.runner_id)
                error.body["error"]["last_known"] = shown_view(state, view)
            raise

    async def _send(self, backend: HubBackend, state: MachineState, caller: Caller, args: Json) -> Reply:
        name = self.operation.name
        if self.operation.is_command:
            return await backend.calls.command(state, name, args, caller)
        return await backend.calls.query(state, name, args, caller)

    async def _ask_all(self, backend: HubBackend, caller: Caller, args: Json) -> Reply:
        """The lists of every connected machine as one, and the machines that are missing from it."""
        machines = backend.registry.enrolled()
        answers = await asyncio.gather(*(self._answer(backend, state, caller, args) for state in machines))
        whole = [(state, body) for state, (body, _) in zip(machines, answers, strict=True) if body is not None]
        missing = [
            {"runner_id": state.runner_id, "name": state.name, **error}
            for state, (_, error) in zip(machines, answers, strict=True)
            if error is not None
        ]
        return Reply(200, write_json(self._empty() | merged(whole) | {"missing": missing}))

    def _empty(self) -> Json:
        """The answer when no machine has one: the lists of this operation, empty."""
        shape = get_type_hints(self.function).get("return")
        fields = msgspec.structs.fields(shape) if isinstance(shape, type) and issubclass(shape, Struct) else ()
        return {one.encode_name: [] for one in fields if get_origin(one.type) is list}

    async def _answer(
        self, backend: HubBackend, state: MachineState, caller: Caller, args: Json
    ) -> tuple[Json | None, Json | None]:
        try:
            reply = checked(await self._send(backend, state, caller, args))
        except ApiError as error:
            return None, {key: error.body["error"].get(key) for key in ("kind", "message")}
        return msgspec.json.decode(reply.body), None

    async def _stop_sessions(self, backend: HubBackend, caller: Caller, args: Json) -> Reply:
        """Stop sessions on their machines; those of a machine that cannot be reached have its error."""
        parts: list[tuple[MachineState, Json]] = []
        sessions: list[Json] = []
        if args.get("session_ids") is None:
            parts = [(state, args) for state in backend.registry.connected()]
        else:
            ids: dict[str, list[str]] = {}
            for session_id in args["session_ids"]:
                try:
                    state, _ = await backend.view_named("sessions", session_id, None)
                    ids.setdefault(state.runner_id, []).append(session_id)
                except ApiError as error:
                    sessions.append({"session_id": session_id, "ok": False, "error": error.body["error"]})
            parts = [(backend.machine(name), {**args, "session_ids": found}) for name, found in ids.items()]
        for (_state, part), (body, problem) in zip(
            parts,
            await asyncio.gather(*(self._answer(backend, state, caller, part) for state, part in parts)),
            strict=True,
        ):
            if body is not None:
                sessions += body["sessions"]
            else:
                named = part.get("session_ids") or []
                sessions += [{"session_id": one, "ok": False, "error": problem} for one in named]
        return Reply(200, write_json({"sessions": sessions}))


class TypedEndpoint(ForwardedEndpoint):
    """Keystrokes and sizes for a terminal that a connection shows. They are sent on at once, without a record of each
    and without an answer, so that typing stays fast."""

    async def command(self, backend: HubBackend, given: Mapping[str, Any], arguments: Any) -> Any:
        """Send it to the machine of the session."""
        args = dict(given["args"])
        state = await machine_of(backend, args, args.pop("runner_id", None))
        backend.calls.send(state, self.operation.name, args, given["caller"])


class OwnOrForwardedEndpoint(ForwardedEndpoint):
    """An operation about the hub itself, or about the machine that `runner_id` names."""

    async def serve(
        self, backend: HubBackend, given: Mapping[str, Any], runner_id: str | None, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer a call of REST."""
        if runner_id in (None, backend.runner_id):
            return await self.call(backend, given, arguments)
        return await super().serve(backend, given, runner_id, arguments)

    async def command(self, backend: HubBackend, given: Mapping[str, Any], arguments: Any) -> Any:
        """Carry out a command of the WebSocket."""
        if given["args"].get("runner_id") in (None, backend.runner_id):
            result = await self.call(backend, given, self.values(arguments))
            return result.content if isinstance(result, Response) else result
        return await super().command(backend, given, arguments)


def checked(reply: Reply) -> Reply:
    """The answer of a machine; its error as an error."""
    if reply.ok:
        return reply
    error = ApiError(reply.status, "failed", "the machine refused")
    try:
        body = msgspec.json.decode(reply.body)
    except msgspec.MsgspecError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        error.body = body
    raise error


def merged(answers: list[tuple[MachineState, Json]]) -> Json:
    """The answers of several machines as one: lists one after the other, each resource with its machine; of anything
    else that of the first."""
    found: Json = {}
    for state, body in answers:
        for key, value in body.items():
            if isinstance(value, list):
                rows = [{"runner_id": state.runner_id, **one} if isinstance(one, dict) else one for one in value]
                found[key] = [*found.get(key, ()), *rows]
            else:
                found.setdefault(key, value)
    return found


async def machine_of(backend: HubBackend, args: Json, runner_id: str | None) -> MachineState:
    """The machine that an operation is about: the one that is named, else the one that has the session or request."""
    if runner_id is not None:
        return backend.machine(runner_id)
    for name, table in (("request_id", "requests"), ("session_id", "sessions"), ("resume", "sessions")):
        if isinstance(args.get(name), str):
            return (await backend.view_named(table, args[name], None))[0]
    return backend.only_machine()
