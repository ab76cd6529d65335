"""One connection to the hub: registers, sends what is new, and runs what the hub asks for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any

import structlog
from msgspec import Struct
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from quarterdeck import __version__
from quarterdeck.api.backend import Backend
from quarterdeck.api.live.broadcast import Broadcaster
from quarterdeck.api.live.live_source import MachineSource
from quarterdeck.daemon.ingest.attendance import Attendance
from quarterdeck.daemon.link.hub_rules import HubRules
from quarterdeck.daemon.link.outgoing.outgoing_events import OutgoingEvents
from quarterdeck.daemon.link.outgoing.outgoing_views import OutgoingViews
from quarterdeck.daemon.link.outgoing.share_policy import SharePolicy
from quarterdeck.daemon.link.remote_calls import RemoteCalls
from quarterdeck.daemon.link.stream_sender import StreamSender
from quarterdeck.daemon.loop.loop import Loop
from quarterdeck.link.actions import CloseLink, HandleMessage, RunnerAction, SaveCursor, SendMessage
from quarterdeck.link.codec import BadMessage, read_hub_frame, write_frame
from quarterdeck.link.messages import (
    BROKEN_RULE,
    AnyHubMessage,
    AnyRunnerMessage,
    AttendingMessage,
    CloseStream,
    OpenStream,
    RegisteredMessage,
    RegisterMessage,
    RemoteCommand,
    RemoteQuery,
    RulesMessage,
    StreamCredit,
)
from quarterdeck.link.runner_link import RunnerLink
from quarterdeck.store.reader import Reader

CAPABILITIES = ["queries", "commands", "views", "streams", "rules"]
MOST_CALLS = 64
BEAT_SECONDS = 1.0

logger = structlog.get_logger("link")


class LinkParts(Struct, kw_only=True):
    """What a connection works with. `registered` is called with each registration, `policy` gives how much leaves now,
    `instance` names this start of the daemon."""

    name: str
    instance: str
    may: frozenset[str]
    loop: Loop
    reader: Reader
    backend: Backend
    live: Broadcaster
    attendance: Attendance
    calls: RemoteCalls
    rules: HubRules
    thread: Executor
    policy: Callable[[], SharePolicy]
    registered: Callable[[RegisteredMessage], None]


class HubConnection:
    """An open connection. `has_new` is set whenever the log has new events, or the hub has taken some."""

    def __init__(self, parts: LinkParts, link: RunnerLink, socket: ClientConnection, has_new: asyncio.Event) -> None:
        self._parts, self._link, self._socket, self._has_new = parts, link, socket, has_new
        self.streams = StreamSender(parts.backend, parts.live, parts.policy, parts.may, self._send)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Register, and serve the hub until the connection ends."""
        parts, state = self._parts, self._parts.loop.state
        register = RegisterMessage(
            runner_id=state.runner_id,
            name=parts.name,
            version=__version__,
            seq_no=state.seq_no,
            instance=parts.instance,
            capabilities=CAPABILITIES,
            active_sessions=[session.session_id for session in parts.backend.sessions.live()],
        )
        works = [asyncio.create_task(work) for work in (self._read(), self._send_events(), self._beat())]
        try:
            await self._perform(self._link.open(register, time.monotonic()))
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            for work in done:
                work.result()
        finally:
            tasks = [*works, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.streams.close_all()

    async def close(self) -> None:
        """Close: the machine has left the hub."""
        await self._socket.close(1000, "left the hub")

    async def _send(self, message: AnyRunnerMessage) -> None:
        await self._socket.send(write_frame(message))

    async def _read(self) -> None:
        async for frame in self._socket:
            try:
                message = read_hub_frame(frame)
            except BadMessage as error:
                self._link.trouble = ("protocol", str(error))
                await self._socket.close(BROKEN_RULE, "not a message of this protocol")
                return
            await self._perform(self._link.receive(message, time.monotonic()))

    async def _perform(self, actions: list[RunnerAction]) -> None:
        for action in actions:
            match action:
                case SendMessage(message=message):
                    await self._send(message)  # type: ignore[arg-type]
                case SaveCursor():
                    self._has_new.set()  # there may be room for more events on the way
                case CloseLink(code=code, reason=reason):
                    await self._socket.close(code, reason[:100])
                case HandleMessage(message=message):
                    await self._handle(message)  # type: ignore[arg-type]

    async def _handle(self, message: AnyHubMessage) -> None:
        match message:
            case RegisteredMessage():
                self._parts.registered(message)
                self._background(self._send_views(message.assigned_sessions))
                self._has_new.set()
            case RemoteCommand() | RemoteQuery() if len(self._tasks) >= MOST_CALLS:
                logger.warning("too many calls of the hub at once")
            case RemoteCommand():
                self._background(self._run_command(message))
            case RemoteQuery():
                self._background(self._run_query(message))
            case AttendingMessage(people=people):
                self._parts.attendance.at_hub = max(0, people)
            case RulesMessage(rules=rules):
                self._background(self._parts.rules.replace(rules))
            case OpenStream():
                await self.streams.open(message)
            case StreamCredit(stream=stream, bytes=size):
                self.streams.credit(stream, size)
            case CloseStream(stream=stream):
                self.streams.close(stream)

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, ConnectionClosed):
            logger.error("work for the hub failed", exc_info=error)

    async def _run_command(self, command: RemoteCommand) -> None:
        hub_time = self._link.hub_time(time.monotonic())
        work = self._parts.calls.start(command, epoch=self._link.epoch, hub_time=hub_time)
        await self._send(await asyncio.shield(work))

    async def _run_query(self, query: RemoteQuery) -> None:
        await self._send(await self._parts.calls.query(query))

    async def _send_views(self, assigned: list[str]) -> None:
        views = OutgoingViews(MachineSource(self._parts.backend), self._parts.live, self._parts.policy)
        async with contextlib.aclosing(views.messages(assigned)) as messages:
            async for message in messages:
                await self._send(message)

    async def _send_events(self) -> None:
        link, parts, running = self._link, self._parts, asyncio.get_running_loop()
        while True:
            self._has_new.clear()
            rows = link.next_range(parts.loop.state.seq_no)
            if rows is None:
                await self._has_new.wait()
                continue
            outgoing = OutgoingEvents(parts.reader, parts.policy(), parts.loop.state.runner_id)
            batch = await running.run_in_executor(parts.thread, outgoing.read, rows)
            message = link.batch(batch.events, batch.trimmed, outgoing.gap) if link.is_open else None
            if message is not None:
                await self._socket.send(await running.run_in_executor(parts.thread, write_frame, message))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(max(0.01, min(self._link.wake_at - time.monotonic(), BEAT_SECONDS)))
            await self._perform(self._link.tick(time.monotonic()))
