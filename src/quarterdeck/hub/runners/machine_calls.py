"""Calls of machines: commands, which are written down and happen at most once, and queries, which only read."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

import msgspec
from msgspec import Struct

from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.principal import Caller
from quarterdeck.hub.runners.machine_registry import MachineRegistry, MachineState
from quarterdeck.hub.store.commit_queue import CommitQueue
from quarterdeck.hub.store.records import HubRecord, StoredCommand, add_command, add_record, finish_command
from quarterdeck.link.messages import CommandResultMessage, QueryResultMessage, RemoteCommand, RemoteQuery

COMMAND_SECONDS = 15.0
"""How long a command may still be begun, and how long its result is waited for."""
LONG_COMMAND_SECONDS = 300.0
QUERY_SECONDS = 5.0
STARTS = frozenset({"start_session", "fork_session", "takeover_session"})
"""Commands whose result is a session that the hub has started."""
LONG = STARTS | {"change_mode", "scan_projects", "merge_worktree"}
"""Commands that may take minutes, like those about plugins and servers."""


class Reply(Struct, frozen=True):
    """What a machine answered: the status code and the JSON that its own REST would have."""

    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        return self.status < 400


class MachineCalls:
    """Every call to a machine that waits for its answer."""

    def __init__(self, registry: MachineRegistry, commits: CommitQueue) -> None:
        self._registry = registry
        self._commits = commits
        self._waiting: dict[str, asyncio.Future[Reply]] = {}

    async def command(
        self, state: MachineState, name: str, args: dict[str, Any], caller: Caller, surface: str = ""
    ) -> Reply:
        """Carry out a command on a machine. To one that is away it is not sent at all, now or later."""
        connection, machine = state.connection, state.machine
        now, target = time.time(), _target(args)
        if connection is None or machine is None:
            await self._commits.submit(lambda db: add_record(db, _record(state, name, target, caller.name, now, None)))
            raise _away(state, "undeliverable", "the command was not sent and will not be")
        seconds = LONG_COMMAND_SECONDS if name in LONG or "plugin" in name or "server" in name else COMMAND_SECONDS
        command_id = f"c{secrets.token_hex(12)}"
        row = StoredCommand(
            command_id=command_id,
            machine=machine,
            name=name,
            by=caller.name,
            target=target,
            at=now,
            expires_at=now + seconds,
        )
        await self._commits.submit(lambda db: add_command(db, row))
        message = _command(command_id, connection.epoch, row.expires_at, name, args, caller)
        waits = self._wait(command_id)
        connection.send(message)
        try:
            async with asyncio.timeout(seconds):
                return await waits
        except TimeoutError:
            why = f"did not answer within {seconds:g} s; it may have carried this out"
            raise ApiError(
                503, "no_answer", f"{state.name} {why}", runner_id=state.runner_id, command_id=command_id
            ) from None
        finally:
            self._waiting.pop(command_id, None)

    def send(self, state: MachineState, name: str, args: dict[str, Any], caller: Caller) -> None:
        """Send a command that nobody waits for."""
        if state.connection is None:
            raise _away(state, "undeliverable", "nothing was sent")
        command_id, expires_at = f"t{secrets.token_hex(8)}", time.time() + COMMAND_SECONDS
        state.connection.send(_command(command_id, state.connection.epoch, expires_at, name, args, caller))

    async def query(self, state: MachineState, name: str, args: dict[str, Any], caller: Caller) -> Reply:
        """Ask a machine something that changes nothing."""
        connection = state.connection
        if connection is None:
            raise _away(state, "runner_away", "what was known last is in the lists of the hub")
        query_id = f"q{secrets.token_hex(12)}"
        message = RemoteQuery(
            id=query_id,
            name=name,
            actor=caller.name,
            scope=_scope(caller),
            args=args,
            deadline=QUERY_SECONDS,
        )
        waits = self._wait(query_id)
        connection.send(message)
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                return await waits
        except TimeoutError:
            message_text = f"{state.name} did not answer within {QUERY_SECONDS:g} s"
            raise ApiError(503, "runner_away", message_text, runner_id=state.runner_id) from None
        finally:
            self._waiting.pop(query_id, None)

    def _wait(self, call_id: str) -> asyncio.Future[Reply]:
        waits = self._waiting[call_id] = asyncio.get_running_loop().create_future()
        return waits

    async def finish_command(self, state: MachineState, result: CommandResultMessage) -> None:
        """Store the result of a command, once, and hand it to who waits for it."""
        now, body = time.time(), bytes(result.body)
        machine = state.machine
        assert machine is not None

        def store(db: Any) -> None:
            row = finish_command(db, result.id, machine, result.status, body, now)
            if row is not None:
                add_record(db, _record(state, row.name, row.target, row.by, now, result.status, body, row.command_id))

        await self._commits.submit(store)
        self._resolve(result.id, Reply(result.status, body))

    def finish_query(self, result: QueryResultMessage) -> None:
        """Hand the answer to a query to who waits for it."""
        self._resolve(result.id, Reply(result.status, bytes(result.body)))

    def _resolve(self, call_id: str, reply: Reply) -> None:
        waits = self._waiting.get(call_id)
        if waits is not None and not waits.done():
            waits.set_result(reply)


def _target(args: dict[str, Any]) -> str:
    """What a command is about: the id of a session, a request or something else, or a folder."""
    names = ("request_id", "session_id", "rule_id", "name", "path", "cwd")
    return next((str(args[name])[:200] for name in names if args.get(name)), "")


def _away(state: MachineState, kind: str, consequence: str) -> ApiError:
    message = f"{state.name} is away; {consequence}"
    return ApiError(503, kind, message, runner_id=state.runner_id, away_since=state.since)


def _record(
    state: MachineState,
    name: str,
    target: str,
    by: str,
    at: float,
    status: int | None,
    body: bytes = b"",
    command_id: str = "",
) -> HubRecord:
    who, _, surface = by.partition(" via ")
    outcome = "undeliverable" if status is None else "done" if status < 400 else _error_kind(body)
    what: dict[str, Any] = {"name": name, "outcome": outcome}
    if command_id:
        what |= {"command_id": command_id, "status": status}
    is_session = name not in ("decide",) and target
    return HubRecord(
        kind="hub.command",
        at=at,
        who=who,
        surface=surface or None,
        about=f"{name} {target}".strip(),
        runner_id=state.runner_id,
        session_id=target if is_session else "",
        what=what,
    )


def _error_kind(body: bytes) -> str:
    try:
        return str(msgspec.json.decode(body)["error"]["kind"])
    except (msgspec.MsgspecError, KeyError, TypeError):
        return "failed"


def _command(
    command_id: str, epoch: int, expires_at: float, name: str, args: dict[str, Any], caller: Caller
) -> RemoteCommand:
    return RemoteCommand(
        id=command_id,
        expires_at=expires_at,
        epoch=epoch,
        actor=caller.name,
        scope=_scope(caller),
        name=name,
        args=args,
    )


def _scope(caller: Caller) -> str:
    return " ".join(sorted(caller.principal.scopes))
