"""Commands and queries of the hub: they run through the routes of the API, each command at most once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import Raw

from quarterdeck.api.http.asgi import App, error_body
from quarterdeck.api.http.credentials import Principal, verifier_of
from quarterdeck.api.operations import OPERATIONS
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.daemon.link.command_ledger import CommandLedger, LedgerEntry
from quarterdeck.daemon.link.grants import missing_grant, scopes_of
from quarterdeck.daemon.link.in_process_call import ApiAnswer, call_api
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.link.messages import CommandResultMessage, QueryResultMessage, RemoteCommand, RemoteQuery
from quarterdeck.link.redaction.share_levels import shared_view
from quarterdeck.wire import write_json

THROUGH = "through the hub"
MOST_ACTOR = 100
LONGEST_QUERY = 60.0
MOST_BODY = 8 * 1024 * 1024

T = TypeVar("T")

logger = structlog.get_logger("link")


class RemoteCalls:
    """Runs what the hub asks for, as far as this machine grants it."""

    def __init__(
        self,
        api: App,
        ledger: CommandLedger,
        may: Collection[str],
        policy: Callable[[], SharePolicy],
        thread: Executor,
        typing: Callable[[str, Mapping[str, Any]], Awaitable[ApiAnswer]],
    ) -> None:
        self._api, self._ledger, self._may, self._policy = api, ledger, frozenset(may), policy
        self._thread, self._typing = thread, typing
        self._tasks: set[asyncio.Task[CommandResultMessage]] = set()
        self._running: dict[str, asyncio.Future[ApiAnswer]] = {}

    def start(self, command: RemoteCommand, *, epoch: int, hub_time: float) -> asyncio.Task[CommandResultMessage]:
        """Begin a command. It runs to its end, even when the link is lost meanwhile: its result is kept."""
        task = asyncio.create_task(self.command(command, epoch=epoch, hub_time=hub_time))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def command(self, command: RemoteCommand, *, epoch: int, hub_time: float) -> CommandResultMessage:
        """Run a command, or give the result that it had. `hub_time` is the hub's clock now."""
        answer = await self._command(command, epoch, hub_time)
        return CommandResultMessage(id=command.id, ok=answer.ok, status=answer.status, body=Raw(answer.body))

    async def _command(self, command: RemoteCommand, epoch: int, hub_time: float) -> ApiAnswer:
        if (running := self._running.get(command.id)) is not None:
            return await asyncio.shield(running)
        operation = OPERATIONS.get(command.name)
        is_known = operation is not None and operation.method != "GET"
        future: asyncio.Future[ApiAnswer] = asyncio.get_running_loop().create_future()
        self._running[command.id] = future
        try:
            answer = await self._first_or_kept(command, epoch, hub_time, is_known=is_known)
            future.set_result(answer)
        except BaseException as error:
            future.cancel()
            if isinstance(error, asyncio.CancelledError):
                raise
            logger.exception("a command of the hub failed")
            return _error(500, "failed", "the command failed; see the daemon's log")
        finally:
            del self._running[command.id]
        return answer

    async def _first_or_kept(self, command: RemoteCommand, epoch: int, hub_time: float, *, is_known: bool) -> ApiAnswer:
        kept = await self._in_thread(self._ledger.find, command.id)
        if kept is not None:
            return _kept_answer(kept)
        if command.epoch != epoch:
            return _error(409, "fenced", f"the command is of epoch {command.epoch}, this connection is {epoch}")
        if command.expires_at <= hub_time:
            return _error(409, "expired", "the command came too late")
        if not is_known:
            return _error(404, "not_found", f"{one_line(command.name)[:MOST_ACTOR]}: there is no such command here")
        if (refusal := self._refusal(command.name, command.args, command.scope)) is not None:
            return refusal
        kept = await self._in_thread(self._ledger.begin, command.id, time.time())
        if kept is not None:
            return _kept_answer(kept)
        answer = await self._call(command.name, command.args, command.actor, command.scope)
        await self._in_thread(self._ledger.finish, command.id, answer.status, answer.body)
        return answer

    async def query(self, query: RemoteQuery) -> QueryResultMessage:
        """Answer a query before its deadline, or say that it took too long."""
        operation = OPERATIONS.get(query.name)
        if operation is None or not operation.path or (operation.method != "GET" and not operation.reads):
            answer = _error(404, "not_found", f"{one_line(query.name)[:MOST_ACTOR]}: there is no such query here")
        elif (refusal := self._refusal(query.name, query.args, query.scope)) is not None:
            answer = refusal
        else:
            seconds = min(max(0.0, query.deadline), LONGEST_QUERY)
            try:
                async with asyncio.timeout(seconds):
                    answer = await self._call(query.name, query.args, query.actor, query.scope)
            except TimeoutError:
                answer = _error(503, "too_slow", f"this machine had no answer within {seconds:g} s")
        return QueryResultMessage(id=query.id, ok=answer.ok, status=answer.status, body=Raw(answer.body))

    def _refusal(self, name: str, args: Mapping[str, Any], scope: str) -> ApiAnswer | None:
        if (grant := missing_grant(name, args, self._may)) is not None:
            message = f"this machine does not let its hub do that: hub.may lacks {grant}"
            return _error(403, "not_granted", message, grant=grant)
        needed = OPERATIONS[name].scope
        if needed not in ("none", *scopes_of(self._may, scope.split())):
            return _error(403, "forbidden", f"the person at the hub lacks the scope {needed}", scope=needed)
        policy = self._policy()
        reason = policy.refusal(name, args, policy.of_call(name, args))
        return None if reason is None else _error(403, "not_shared", reason)

    async def _call(self, name: str, args: Mapping[str, Any], actor: str, scope: str) -> ApiAnswer:
        person = f"{one_line(actor)[:MOST_ACTOR] or 'someone'} {THROUGH}"
        principal = Principal(
            name=person, kind="hub", scopes=scopes_of(self._may, scope.split()), secret=verifier_of(person.encode())
        )
        is_typing = not OPERATIONS[name].path
        answer = await (self._typing(name, args) if is_typing else call_api(self._api, name, args, principal))
        policy = self._policy()
        level = policy.of_call(name, args)
        return await self._in_thread(_shared_answer, answer, policy, level)

    async def _in_thread(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)


def _shared_answer(answer: ApiAnswer, policy: SharePolicy, level: str) -> ApiAnswer:
    """An answer without secrets, and with as much as may leave."""
    body = policy.secrets.body(answer.body)
    if answer.ok:
        shown = shared_view(True, level)
        body = body if shown and level != "titles" else write_json(shared_view(msgspec.json.decode(body), level))
    if len(body) > MOST_BODY:
        return _error(413, "too_large", f"the answer has {len(body)} bytes, more than goes over the link")
    return ApiAnswer(answer.status, body)


def _kept_answer(entry: LedgerEntry) -> ApiAnswer:
    if entry.status is None:
        return _error(500, "interrupted", "the machine stopped while the command ran; it is not run again")
    return ApiAnswer(entry.status, entry.body)


def _error(status: int, kind: str, message: str, **more: Any) -> ApiAnswer:
    return ApiAnswer(status, error_body(kind, message, **more))
