"""`/ws`, protocol 2: one surface, from its hello to its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import Struct

from quarterdeck import __version__
from quarterdeck.api.backend import Desk
from quarterdeck.api.http.agent_block import Agents
from quarterdeck.api.http.asgi import Receive, Scope, Send
from quarterdeck.api.http.credentials import Access, Pace, Principal
from quarterdeck.api.http.errors import ApiError
from quarterdeck.api.http.guard import address_of
from quarterdeck.api.live.broadcast import Live, joined
from quarterdeck.api.live.commands import ACTIONS, COMMANDS, SLOW, TYPING, read_args
from quarterdeck.api.live.terminals import Terminals
from quarterdeck.api.routes.decisions import NamedDecision
from quarterdeck.api.views.resources import event_view, request_view, session_view
from quarterdeck.core.model.events import FeedEvent
from quarterdeck.core.model.payload import ID, safe_id
from quarterdeck.errors import BadInput
from quarterdeck.store.reader import FeedQuery
from quarterdeck.wire import read_json, write_json

PROTOCOL = 2
HELLO_SECONDS = 5.0
CHECK_SECONDS = 1.0
SEND_SECONDS = 20.0
FIRST_PAGE = 16
PAGE = 500
PAGE_BYTES = 512 * 1024
MAX_TOPICS = 100
MOST_TERMINALS = 8
MOST_SLOW = 16
TRUSTED_SECONDS = 5.0
FIRST_BYTES, MAX_BYTES = 16 * 1024, 1024 * 1024
MAX_COMMAS, MAX_MESSAGES = 20_000, 100
"""What one frame may hold, so that reading it never keeps the others waiting; before a hello it is little."""
TOPICS = frozenset({"feed", "requests", "sessions"})

UNAUTHORIZED, FORBIDDEN, WRONG_VERSION, TOO_SLOW, BAD_MESSAGE, SURPRISE = 4401, 4403, 4406, 4408, 4400, 1011

T = TypeVar("T")
logger = structlog.get_logger("ws")


class Hello(Struct, kw_only=True):
    """What a client says first."""

    type: str
    protocol: int
    client: str = ""
    version: str = ""
    token: str | None = None
    after: int | None = None
    topics: list[str] = []


class _Closed(Exception):
    """The connection ends, with a reason for the client."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Sockets:
    """Takes every connection; `surfaces` hears how many have said who they are."""

    def __init__(
        self, desk: Desk, live: Live, access: Access, pace: Pace, agents: Agents, surfaces: Callable[[int], None]
    ) -> None:
        self.desk = desk
        self.agents = agents
        self.live = live
        self.access = access
        self.pace = pace
        self._surfaces = surfaces
        self._shots: dict[frozenset[str], tuple[int, bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})
        connection = _Connection(self, scope, receive, send)
        try:
            await connection.run()
        except Exception:
            logger.exception("a connection failed")
            await connection.close(_Closed(SURPRISE, "see the daemon's log"))

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """A surface is there."""
        self._surfaces(1)
        try:
            yield
        finally:
            self._surfaces(-1)

    def snapshot(self, topics: frozenset[str]) -> bytes:
        """How things stand; the same bytes for everyone who asks before the next event."""
        desk = self.desk
        wanted = topics & {"sessions", "requests"}
        seq_no, shot = self._shots.get(wanted, (-1, b""))
        if seq_no != desk.seq_no:
            message: dict[str, Any] = {"type": "snapshot"}
            if "sessions" in wanted:
                message["sessions"] = [session_view(s, desk.runner_id) for s in desk.live_sessions()]
            if "requests" in wanted:
                message["requests"] = [request_view(desk, r) for r in desk.pending()]
            shot = write_json(message)
            self._shots[wanted] = (desk.seq_no, shot)
        return shot


class _Connection:
    def __init__(self, sockets: Sockets, scope: Scope, receive: Receive, send: Send) -> None:
        self._all = sockets
        self._scope = scope
        self._principal: Principal | None = scope["qd_principal"]
        self._address = address_of(scope)
        self._abort: Callable[[], None] = scope["extensions"]["quarterdeck.abort"]
        self._taken: Callable[[], Awaitable[object]] = scope["extensions"]["quarterdeck.taken"]
        self._receive = receive
        self._send = send
        self._sending = asyncio.Lock()
        self._heard: deque[Any] = deque()
        self._page = FIRST_PAGE
        self._name = ""
        self._slow: set[asyncio.Task[None]] = set()
        self._looked_at = float("-inf")
        self.desk = sockets.desk
        self.terminals = Terminals(sockets.desk, self._say)

    async def run(self) -> None:
        """Until either side has had enough."""
        try:
            hello = await self._hello()
            self._name = safe_id(hello.client, "")
            with self._all.counted():
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._tell(hello))
                    for session_id in _streams(hello.topics):
                        tasks.create_task(self.terminals.follow(session_id))
                    tasks.create_task(self._hear())
                    tasks.create_task(self._check())
        except* _Closed as group:
            await self.close(_first(group))
        except* ConnectionError:
            pass

    async def close(self, why: _Closed) -> None:
        """Say why, if the client still reads; a connection that does not take even that is dropped."""
        reason = str(why).encode()[:120].decode(errors="ignore")
        try:
            async with asyncio.timeout(1.0):
                await self._send({"type": "websocket.close", "code": why.code, "reason": reason})
        except (OSError, RuntimeError):
            self._abort()

    async def _hello(self) -> Hello:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                message = await self._message()
            if isinstance(message, dict) and message.get("type") == "hello" and isinstance(message.get("token"), str):
                self._authenticate(message["token"])
            hello = msgspec.convert(message, Hello)
        except TimeoutError:
            raise _Closed(UNAUTHORIZED, "no hello within 5 seconds") from None
        except msgspec.ValidationError as error:
            raise self._misspoken(f"the first message must be a hello: {error}") from None
        if hello.type != "hello":
            raise self._misspoken("the first message must be a hello")
        if self._principal is None:
            raise _Closed(UNAUTHORIZED, "a valid token is needed")
        if not self._principal.may("observe"):
            raise _Closed(FORBIDDEN, "this token lacks the scope observe")
        if hello.protocol != PROTOCOL:
            raise _Closed(WRONG_VERSION, f"protocol {PROTOCOL} is spoken here, not {hello.protocol}; upgrade the older")
        return hello

    def _misspoken(self, reason: str) -> _Closed:
        """Whoever has shown no credential is told nothing else."""
        if self._principal is None:
            return _Closed(UNAUTHORIZED, "the first message must be a hello with a token")
        return _Closed(BAD_MESSAGE, reason)

    def _authenticate(self, token: str) -> None:
        """Who says hello; a token counts before anything else the client said, and instead of a cookie."""
        found = self._all.access.who(token.encode(errors="replace"))
        self._principal = found if found is not None and found.kind != "page" else None
        if self._principal is None and self._all.access.failures.count(self._address):
            raise _Closed(UNAUTHORIZED, "too many wrong credentials from here; wait a minute")

    async def _message(self) -> Any:
        """The next message of the client; a frame may hold several."""
        while not self._heard:
            received = await self._receive()
            if received["type"] != "websocket.receive":
                raise ConnectionResetError
            frame = received.get("bytes") or (received.get("text") or "").encode()
            if len(frame) > (FIRST_BYTES if self._principal is None else MAX_BYTES) or frame.count(b",") > MAX_COMMAS:
                raise self._misspoken("too_large: such a message goes over the REST API")
            try:
                said = read_json(frame)
            except BadInput as error:
                raise self._misspoken(f"{error.kind}: {error}") from None
            messages = said if isinstance(said, list) else [said]
            if len(messages) > MAX_MESSAGES:
                raise self._misspoken(f"a frame holds at most {MAX_MESSAGES} messages")
            self._heard.extend(messages)
        await asyncio.sleep(0)
        return self._heard.popleft()

    async def _tell(self, hello: Hello) -> None:
        desk, live = self._all.desk, self._all.live
        topics = frozenset(t for t in hello.topics[:MAX_TOPICS] if t in TOPICS or _is_stream(t))
        resume = await desk.can_resume(hello.after) if hello.after is not None else True
        seq_no = desk.seq_no
        greeting = {
            "type": "hello",
            "protocol": PROTOCOL,
            "daemon_version": __version__,
            "runner_id": desk.runner_id,
            "seq_no": seq_no,
            "resume": "ok" if resume else "gap",
        }
        unknown = [t for t in hello.topics if t not in topics]
        notices = [{"type": "notice", "message": f"unknown topic: {t}"[:200]} for t in unknown[:5]]
        await self._say([write_json(greeting), self._all.snapshot(topics), *map(write_json, notices)])
        position = hello.after if resume and hello.after is not None else seq_no
        if "feed" in topics:
            position = await self._catch_up(position)
        wake = live.listen(topics)
        head, upto = live.head, desk.seq_no
        try:
            if upto != seq_no:
                await self._say([self._all.snapshot(topics)])
            if "feed" in topics:
                await self._catch_up(position, upto)
            await self._follow(wake, topics, head)
        finally:
            live.leave(wake)

    async def _catch_up(self, position: int, upto: int | None = None) -> int:
        """Send from the log what came after this position, page by page, to its end or to `upto`."""
        more = True
        while more and (upto is None or position < upto):
            position, more = await self._send_page(position, None if upto is None else upto + 1)
        return position

    async def _send_page(self, position: int, before: int | None) -> tuple[int, bool]:
        """The next page, once the client has taken the last one: a slow client costs little, however large events are.
        What did not fit is read again."""
        async with self._in_time():
            await self._taken()
        page = await self._all.desk.feed(FeedQuery(after=position, before=before, limit=self._page))
        messages = list(_fitting(page.events))
        if not messages:
            return position, False
        fits = len(messages) == len(page.events)
        self._page = min(PAGE, 2 * self._page) if fits else len(messages)
        await self._say(messages)
        return page.events[len(messages) - 1].seq_no, page.more or not fits

    async def _follow(self, wake: asyncio.Event, topics: frozenset[str], after: int) -> None:
        """Everything that comes after this bundle."""
        live = self._all.live
        while True:
            if after == live.head:
                await wake.wait()
            wake.clear()
            frame = live.frame(after, topics)
            if frame is None:
                await self._say([write_json({"type": "gap", "seq_no": self._all.desk.seq_no})])
                raise _Closed(TOO_SLOW, "too slow: connect again with your last seq_no as after")
            after = frame.upto
            if frame.text:
                await self._say_text(frame.text)

    async def _say(self, messages: list[bytes]) -> None:
        await self._say_text(joined(messages))

    async def _say_text(self, text: str) -> None:
        async with self._sending, self._in_time():
            await self._send({"type": "websocket.send", "text": text})

    @contextlib.asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Whoever reads nothing for long is dropped."""
        try:
            async with asyncio.timeout(SEND_SECONDS):
                yield
        except (OSError, RuntimeError):
            self._abort()
            raise ConnectionResetError from None

    async def _check(self) -> None:
        """A credential that was taken back closes what it opened."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self._who()

    def _who(self) -> Principal:
        """Who is connected, as long as they may be."""
        if self._principal is None or not self._all.access.still(self._principal):
            raise _Closed(UNAUTHORIZED, "the token was revoked or has expired")
        return self._principal

    async def _hear(self) -> None:
        while True:
            message = await self._message()
            if isinstance(message, dict) and message.get("type") == "command":
                if str(message.get("name")) in SLOW and len(self._slow) < MOST_SLOW:
                    self._aside(message)
                else:
                    await self._say([write_json(await self._command(message))])
            elif isinstance(message, dict) and message.get("type") == "ping":
                await self._say([write_json({"type": "pong", "id": message.get("id")})])
            else:
                raise _Closed(BAD_MESSAGE, "a message has the type command or ping")

    def _aside(self, message: dict[str, Any]) -> None:
        async def command() -> None:
            with contextlib.suppress(ConnectionError):
                await self._say([write_json(await self._command(message))])

        task = asyncio.create_task(command())
        self._slow.add(task)
        task.add_done_callback(self._slow.discard)

    async def _command(self, message: dict[str, Any]) -> dict[str, Any]:
        ack: dict[str, Any] = {"type": "ack", "id": message.get("id"), "ok": True}
        args = message.get("args")
        try:
            ack["result"] = await self._perform(str(message.get("name")), args if isinstance(args, dict) else {})
        except ApiError as error:
            ack |= {"ok": False, **error.body}
        return ack

    async def _perform(self, name: str, args: dict[str, Any]) -> Any:
        principal = self._who()
        scope = COMMANDS.get(name)
        if scope is None:
            raise ApiError(404, "unknown_command", f"no such command: {name[:100]}; known: {', '.join(COMMANDS)}")
        if not principal.may(scope):
            raise ApiError(403, "forbidden", f"this token lacks the scope {scope}", scope=scope)
        if name not in TYPING and not self._all.pace.take(principal.secret):
            raise ApiError(429, "too_fast", "too many decisions at once; wait some seconds")
        by = f"{principal.name} via {self._name}" if self._name else principal.name
        wanted, act = ACTIONS[name]
        asked = read_args(args, wanted)
        await self._keep_out(by, name, asked)
        return await act(self, asked, principal, by)

    async def _keep_out(self, by: str, name: str, asked: Any) -> None:
        """Agents do not act for people. Who types was looked at a moment ago."""
        if name in TYPING and time.monotonic() - self._looked_at < TRUSTED_SECONDS:
            return
        about = asked.request_id if isinstance(asked, NamedDecision) else None
        await self._all.agents.keep_out(self._scope, by, "a decision" if about else name, about)
        self._looked_at = time.monotonic()


def _fitting(events: list[FeedEvent]) -> Iterator[bytes]:
    """The first event and as many more as make a frame of ordinary size."""
    size = 0
    for event in events:
        message = b'{"type":"event","event":%b}' % write_json(event_view(event))
        size += len(message)
        if size > PAGE_BYTES and size > len(message):
            return
        yield message


def _is_stream(topic: str) -> bool:
    kind, _, session_id = topic.partition(":")
    return kind == "streams" and ID.fullmatch(session_id) is not None


def _streams(topics: list[str]) -> list[str]:
    """The sessions whose streams are wanted; of terminals only a few."""
    wanted = [topic.partition(":")[2] for topic in topics[:MAX_TOPICS] if _is_stream(topic)]
    return list(dict.fromkeys(wanted))[:MOST_TERMINALS]


def _first(group: BaseExceptionGroup[_Closed]) -> _Closed:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    assert isinstance(found, _Closed)
    return found
