"""The WebSocket `/ws`, protocol 2: the connection of one surface, from its hello to its close."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, assert_never, get_type_hints

import msgspec
import structlog

from quarterdeck import __version__
from quarterdeck.api.http.agent_block import AgentGuard
from quarterdeck.api.http.asgi import Receive, Scope, Send
from quarterdeck.api.http.credentials import Credentials, Principal, RateLimit
from quarterdeck.api.http.endpoint import ApiEndpoint
from quarterdeck.api.http.error_responses import ApiError
from quarterdeck.api.http.guard import OWNER_THROUGH_PROXY, address_of
from quarterdeck.api.http.pairing_codes import TOKEN_KINDS
from quarterdeck.api.http.principal import new_caller
from quarterdeck.api.http.public_origins import LOCAL_KINDS, is_proxied
from quarterdeck.api.http.validation_words import field_problem
from quarterdeck.api.live.broadcast import Broadcaster, joined
from quarterdeck.api.live.clients import Clients, ConnectedClient
from quarterdeck.api.live.live_source import LiveSource
from quarterdeck.api.live.socket_commands import COMMANDS, SLOW, TYPING
from quarterdeck.api.live.subscription import Subscription, TopicChange
from quarterdeck.api.live.terminals import TerminalBackend, Terminals
from quarterdeck.api.live.topics import BAD_MESSAGE, FORBIDDEN, SURPRISE, UNAUTHORIZED, WRONG_VERSION, Closed
from quarterdeck.api.live.ws_messages import (
    KINDS,
    PROTOCOL,
    Ack,
    AnyClientMessage,
    AnyServerMessage,
    CommandMessage,
    CommandResult,
    Hello,
    HelloReply,
    NoticeMessage,
    Ping,
    Pong,
    RenderMessage,
    Snapshot,
    Subscribe,
    Taken,
    Unsubscribe,
    Visible,
    version_notice,
)
from quarterdeck.core.model.payload import safe_id
from quarterdeck.errors import BadInput
from quarterdeck.wire import read_json, write_json

HELLO_SECONDS = 5.0
CHECK_SECONDS = 1.0
SEND_SECONDS = 20.0
MOST_SLOW = 16
TRUSTED_SECONDS = 5.0
STALE_KEY = "stale_key"
FIRST_BYTES, MAX_BYTES = 16 * 1024, 1024 * 1024
MAX_COMMAS, MAX_MESSAGES = 20_000, 100
"""Limits of one frame, so that parsing it never blocks other connections. Before a hello they are small, as the client
is not authenticated."""
logger = structlog.get_logger("ws")


class Sockets:
    """Handles every connection."""

    def __init__(
        self,
        backend: Any,
        source: LiveSource,
        live: Broadcaster,
        credentials: Credentials,
        rate_limit: RateLimit,
        agents: AgentGuard,
        clients: Clients,
        terminals: TerminalBackend,
        commands: Mapping[str, ApiEndpoint] = COMMANDS,
    ) -> None:
        self.backend = backend
        self.source = source
        self.terminals = terminals
        self.commands = commands
        self.agents = agents
        self.live = live
        self.credentials = credentials
        self.rate_limit = rate_limit
        self.clients = clients
        clients.changed = lambda: live.latest("clients", lambda: clients.views(backend.runner_id))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        connection = _Connection(self, scope, receive, send)
        try:
            await connection.run()
        except Exception:
            logger.exception("a connection failed")
            await connection.close(Closed(SURPRISE, "see the daemon's log"))

    def snapshots(self, topics: frozenset[str]) -> list[bytes]:
        """The current state of these topics."""
        found = [self.source.snapshot(topics & {"sessions", "requests"})]
        if "clients" in topics:
            found.append(write_json(Snapshot(clients=self.clients.views(self.backend.runner_id))))
        if "render" in topics and hasattr(self.backend, "deck"):  # a hub has none
            found.append(write_json(RenderMessage(model=self.backend.deck.current())))
        return found


class _Connection:
    def __init__(self, sockets: Sockets, scope: Scope, receive: Receive, send: Send) -> None:
        self._sockets = sockets
        self._scope = scope
        self._principal: Principal | None = scope["qd_principal"]
        self._address = address_of(scope)
        self._abort: Callable[[], None] = scope["extensions"]["quarterdeck.abort"]
        self._taken: Callable[[], Awaitable[object]] = scope["extensions"]["quarterdeck.taken"]
        self._receive = receive
        self._send = send
        self._sending = asyncio.Lock()  # updates, answers and terminals are sent by different tasks
        self._received: deque[Any] = deque()
        self._name = ""
        self._client: ConnectedClient | None = None
        self._slow: set[asyncio.Task[None]] = set()
        self._checked_at = float("-inf")
        self.backend = sockets.backend
        self.terminals = Terminals(sockets.terminals, self)
        self._subscription = Subscription(
            sockets.source, sockets.live, self, sockets.snapshots, self.terminals.follow_only
        )

    async def run(self) -> None:
        """Serve the connection until either side closes it."""
        try:
            hello, principal = await self._hello()
            self._name = safe_id(hello.client, "")
            with self._sockets.clients.connected(hello, principal, self.send) as client:
                self._client = client
                async with asyncio.TaskGroup() as tasks:
                    self.terminals.start(tasks, are_binary="binary" in hello.capabilities)
                    tasks.create_task(self._publish(hello, client))
                    tasks.create_task(self._handle_messages(client))
                    tasks.create_task(self._watch_credential())
        except* Closed as group:
            await self.close(_first(group))
        except* ConnectionError:
            pass

    async def close(self, why: Closed) -> None:
        """Close with a reason if the client still reads; else drop the connection."""
        reason = str(why).encode()[:120].decode(errors="ignore")
        try:
            async with asyncio.timeout(1.0):
                await self._send({"type": "websocket.close", "code": why.code, "reason": reason})
        except (OSError, RuntimeError):
            self._abort()

    async def _hello(self) -> tuple[Hello, Principal]:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                message = await self._message()
            if isinstance(message, dict) and message.get("type") == "hello" and isinstance(message.get("token"), str):
                self._authenticate(message["token"])
            hello = msgspec.convert(message, Hello)
        except TimeoutError:
            raise Closed(UNAUTHORIZED, "no hello within 5 seconds") from None
        except msgspec.ValidationError as error:
            problem = field_problem(str(error), get_type_hints(Hello))
            raise self._bad_message(f"the first message must be a hello: {problem}") from None
        if self._principal is None:
            raise Closed(UNAUTHORIZED, "a valid token is needed")
        if not self._principal.may("observe"):
            raise Closed(FORBIDDEN, "this token lacks the scope observe")
        if hello.protocol != PROTOCOL:
            raise Closed(
                WRONG_VERSION, f"the daemon uses protocol {PROTOCOL}, not {hello.protocol}; upgrade the older one"
            )
        if hello.after is not None and self._sockets.source.place_of(hello.after) is None:
            raise Closed(BAD_MESSAGE, "after: this cursor is of another machine or version; connect without it")
        return hello, self._principal

    def _bad_message(self, reason: str) -> Closed:
        """The close for a bad message. A client without a valid credential learns nothing else."""
        if self._principal is None:
            return Closed(UNAUTHORIZED, "the first message must be a hello with a token")
        return Closed(BAD_MESSAGE, reason)

    def _authenticate(self, token: str) -> None:
        """Set the caller by the token of its hello. It is checked before the rest of the message, and replaces a
        cookie."""
        principal = self._sockets.credentials.principal(token.encode(errors="replace"))
        if principal is not None and principal.kind in LOCAL_KINDS and is_proxied(self._scope):
            raise Closed(FORBIDDEN, OWNER_THROUGH_PROXY)
        accepted = principal is not None and principal.kind in (*LOCAL_KINDS, *TOKEN_KINDS)
        self._principal = principal if accepted else None
        if self._principal is None and self._sockets.credentials.failures.count(self._address):
            raise Closed(UNAUTHORIZED, "too many wrong credentials from here; wait a minute")

    async def _message(self) -> Any:
        """The next message of the client; a frame may hold several."""
        while not self._received:
            received = await self._receive()
            if received["type"] != "websocket.receive":
                raise ConnectionResetError
            frame = received.get("bytes") or (received.get("text") or "").encode()
            if len(frame) > (FIRST_BYTES if self._principal is None else MAX_BYTES) or frame.count(b",") > MAX_COMMAS:
                raise self._bad_message("too_large: send such a message over the REST API")
            try:
                content = read_json(frame)
            except BadInput as error:
                raise self._bad_message(f"{error.kind}: {error}") from None
            messages = content if isinstance(content, list) else [content]
            if len(messages) > MAX_MESSAGES:
                raise self._bad_message(f"a frame holds at most {MAX_MESSAGES} messages")
            self._received.extend(messages)
        await asyncio.sleep(0)  # a frame full of messages must not keep other connections waiting
        return self._received.popleft()

    async def _publish(self, hello: Hello, client: ConnectedClient) -> None:
        def greeting(seq_no: int, resumes: bool) -> list[bytes]:
            reply = HelloReply(
                protocol=PROTOCOL,
                daemon_version=__version__,
                runner_id=self.backend.runner_id,
                seq_no=seq_no,
                cursor=self._sockets.source.cursor(seq_no),
                resume="ok" if resumes else "gap",
                client_id=client.client_id,
            )
            return [write_json(reply), *map(write_json, version_notice(hello))]

        after = None if hello.after is None else self._sockets.source.place_of(hello.after)
        await self._subscription.run(hello.topics, after, greeting)

    async def send(self, message: AnyServerMessage) -> None:
        """Send one message."""
        await self.send_messages([write_json(message)])

    async def send_messages(self, messages: list[bytes]) -> None:
        """Send messages as one frame."""
        await self.send_text(joined(messages))

    async def send_text(self, text: str) -> None:
        """Send a frame."""
        async with self._sending, self._in_time():
            await self._send({"type": "websocket.send", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary frame."""
        async with self._sending, self._in_time():
            await self._send({"type": "websocket.send", "bytes": data})

    async def taken(self) -> None:
        """Wait until the client has read what was sent."""
        async with self._in_time():
            await self._taken()

    @contextlib.asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Drop the connection when the client does not read for `SEND_SECONDS`."""
        try:
            async with asyncio.timeout(SEND_SECONDS):
                yield
        except (OSError, RuntimeError):
            self._abort()
            raise ConnectionResetError from None

    async def _watch_credential(self) -> None:
        """Close the connection when its credential is revoked."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self._valid_principal()

    def _valid_principal(self) -> Principal:
        """The caller with the rights that its credential has now."""
        known = self._principal and self._sockets.credentials.current(self._principal)
        if known is None:
            raise Closed(UNAUTHORIZED, "the token was revoked or has expired")
        return known

    async def _handle_messages(self, client: ConnectedClient) -> None:
        while True:
            await self._handle(read_message(await self._message()), client)

    async def _handle(self, message: AnyClientMessage, client: ConnectedClient) -> None:
        match message:
            case CommandMessage():
                if str(message.name) in SLOW and len(self._slow) < MOST_SLOW:
                    self._run_in_background(message)
                else:
                    answer = await self._command(message)
                    await self.send(answer)
                    await self._show_again(answer)
            case Ping():
                await self.send(Pong(id=message.id))
            case Subscribe():
                self._subscription.change(TopicChange(message.topics, []))
            case Unsubscribe():
                self._subscription.change(TopicChange([], message.topics))
            case Visible():
                self._sockets.clients.show(client, message)
            case CommandResult():
                if not self._sockets.clients.answered(client, message):
                    text = f"ack {message.id}: no command of this id waits for this client"
                    await self.send(NoticeMessage(message=text))
            case Taken():
                self.terminals.credit.add(message.bytes)
            case Hello():
                raise Closed(BAD_MESSAGE, "the first message must be hello, and only one is allowed")
            case _:
                assert_never(message)

    async def _show_again(self, answer: Ack) -> None:
        """Send the model again to a deck whose key has changed since it was pressed."""
        error = answer.error if isinstance(answer.error, dict) else {}
        if error.get("kind") == STALE_KEY and self._subscription.follows("render"):
            await self.send(RenderMessage(model=self.backend.deck.model()))

    def _run_in_background(self, message: CommandMessage) -> None:
        async def command() -> None:
            with contextlib.suppress(ConnectionError):
                await self.send(await self._command(message))

        task = asyncio.create_task(command())
        self._slow.add(task)
        task.add_done_callback(self._slow.discard)

    async def _command(self, message: CommandMessage) -> Ack:
        args = message.args if isinstance(message.args, dict) else {}
        try:
            return Ack(id=message.id, ok=True, result=await self._perform(str(message.name), args))
        except ApiError as error:
            return Ack(id=message.id, ok=False, error=error.body["error"])

    async def _perform(self, name: str, args: dict[str, Any]) -> Any:
        principal = self._valid_principal()
        commands = self._sockets.commands
        endpoint = commands.get(name)
        if endpoint is None:
            raise ApiError(404, "unknown_command", f"no such command: {name[:100]}; known: {', '.join(commands)}")
        caller = new_caller(principal, self._name, self._sockets.rate_limit)
        caller.require(endpoint.operation.scope)
        if name not in TYPING:
            caller.count_decisions()
        read = endpoint.read_arguments(args)
        await self._reject_agent(caller.name, name, getattr(read, "request_id", None))
        self._sockets.clients.person_called()
        given: dict[str, Any] = {"backend": self.backend, "client": self._client, "terminals": self.terminals}
        given |= {"clients": self._sockets.clients, "credentials": self._sockets.credentials}
        given |= {"caller": new_caller(principal, self._name), "args": args}
        return await endpoint.command(self.backend, given, read)

    async def _reject_agent(self, by: str, name: str, request_id: str | None) -> None:
        """Refuse commands of an agent's process. Keystrokes are not checked each time, as that would slow typing."""
        if name in TYPING and time.monotonic() - self._checked_at < TRUSTED_SECONDS:
            return
        await self._sockets.agents.reject_agent(self._scope, by, "a decision" if request_id else name, request_id)
        self._checked_at = time.monotonic()


def read_message(message: Any) -> AnyClientMessage:
    """A message of a client; `Closed` when it is none."""
    try:
        found: AnyClientMessage = msgspec.convert(message, AnyClientMessage)
        return found
    except msgspec.ValidationError as error:
        kind = message.get("type") if isinstance(message, dict) else None
        known = isinstance(kind, str) and kind in KINDS
        reason = (
            f"{kind}: {field_problem(str(error), {})}"
            if known
            else f"a message must have one of the types {', '.join(KINDS)}"
        )
        raise Closed(BAD_MESSAGE, reason) from None


def _first(group: BaseExceptionGroup[Closed]) -> Closed:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, Closed)
    return found
