"""The WebSocket `/ws/runner`: one connection of a runner, from its registration to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, assert_never

import structlog

from quarterdeck.api.http.asgi import Receive, Scope, Send, reject_socket
from quarterdeck.api.http.guard import address_of
from quarterdeck.errors import Refused
from quarterdeck.hub.runners.event_intake import EventIntake
from quarterdeck.hub.runners.machine_registry import MachineState
from quarterdeck.hub.store.enrolments import TakenIdentity
from quarterdeck.hub.store.stored_events import StoreResult
from quarterdeck.link.actions import (
    ClaimIdentity,
    CloseLink,
    CompareEvents,
    HandleMessage,
    HubAction,
    SendMessage,
    StoreEvents,
)
from quarterdeck.link.codec import BadMessage, read_runner_frame, write_frame
from quarterdeck.link.hub_link import HubLink
from quarterdeck.link.messages import (
    BROKEN_RULE,
    REFUSED,
    REPLACED,
    AnyHubMessage,
    CommandResultMessage,
    LinkEvent,
    LinkSettings,
    QueryResultMessage,
    RegisterMessage,
    RunnerStream,
    ViewMessage,
)

MOST_UNSENT = 2_000
"""Messages that wait for one runner; one that does not read is disconnected."""
MOST_UNSTORED = 8
"""Batches of one runner that wait for the disk; more are not read from its connection."""
CONFLICT_SECONDS = 15.0
BUSY_SECONDS = 5.0

logger = structlog.get_logger("hub.link")


class RunnerSocket:
    """Handles every connection of a runner."""

    def __init__(self, intake: EventIntake, settings: LinkSettings) -> None:
        self.intake = intake
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scheme, _, secret = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
        token = secret.decode("latin-1") if scheme.lower() == b"bearer" else ""
        state = self.intake.registry.of_token(token)
        if state is None:
            self.intake.count_failure(address_of(scope))
            await reject_socket(send, 401, "unauthorized", "this token is of no enrolled machine: qd hub enroll NAME")
            return
        await send({"type": "websocket.accept"})
        await LinkedRunner(self, state, scope, receive, send).run()


class LinkedRunner:
    """One connection. Its messages are read by one task, and sent by another, so that a runner that does not read
    delays no other."""

    def __init__(self, sockets: RunnerSocket, state: MachineState, scope: Scope, receive: Receive, send: Send) -> None:
        self.state = state
        self.address = address_of(scope)
        self._intake = sockets.intake
        bound = state.stored.runner_id if state.stored else ""
        self._link = HubLink(bound, sockets.settings, time.monotonic())
        self._receive = receive
        self._send = send
        self._abort = scope["extensions"]["quarterdeck.abort"]
        self._outbox: asyncio.Queue[AnyHubMessage | CloseLink] = asyncio.Queue()
        self._unstored: list[asyncio.Future[StoreResult]] = []
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def epoch(self) -> int:
        return self._link.epoch

    @property
    def backlog(self) -> int:
        return self._link.backlog

    def send(self, message: AnyHubMessage) -> None:
        """Send a message as soon as the runner reads."""
        if self._outbox.qsize() >= MOST_UNSENT:
            self._abort()
            return
        self._outbox.put_nowait(message)

    def close(self, code: int, reason: str) -> None:
        """End the connection: nothing that still comes counts."""
        self._link.close()
        self._outbox.put_nowait(CloseLink(code, reason))

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        sender = asyncio.create_task(self._send_all())
        ticker = asyncio.create_task(self._tick())
        try:
            if self.state.is_expelled:
                self._perform_all(self._link.refuse("expelled", "this machine was expelled from the hub"))
            await self._read_all()
        except BadMessage as error:
            self.close(BROKEN_RULE, str(error)[:100])
        except ConnectionError:
            pass
        finally:
            ticker.cancel()
            self._link.close()
            await self._intake.leave(self)
            self._outbox.put_nowait(CloseLink(REPLACED, "ended"))
            await asyncio.wait([sender], timeout=1.0)
            sender.cancel()

    async def _read_all(self) -> None:
        while True:
            received = await self._receive()
            if received["type"] != "websocket.receive":
                raise ConnectionResetError
            frame = received.get("bytes") or received.get("text") or ""
            message = read_runner_frame(frame)
            if isinstance(message, RegisterMessage) and not self._link.runner_id:
                self._link.runner_id = message.runner_id  # a new credential is bound to the first runner that uses it
            for action in self._link.receive(message):
                await self._perform(action)
            while len(self._unstored) > MOST_UNSTORED:
                await asyncio.wait(self._unstored[:1])

    async def _send_all(self) -> None:
        while True:
            message = await self._outbox.get()
            try:
                if isinstance(message, CloseLink):
                    await self._send({"type": "websocket.close", "code": message.code, "reason": message.reason})
                    return
                frame = write_frame(message)
                kind = "text" if isinstance(frame, str) else "bytes"
                await self._send({"type": "websocket.send", kind: frame})
            except (OSError, RuntimeError):
                self._abort()
                return

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(max(0.01, self._link.wake_at - time.monotonic()))
            self._perform_all(self._link.tick(time.monotonic()))

    def _perform_all(self, actions: Sequence[HubAction]) -> None:
        """Do what needs no wait: send and close."""
        for action in actions:
            if isinstance(action, SendMessage):
                self.send(action.message)  # type: ignore[arg-type]
            elif isinstance(action, CloseLink):
                self._outbox.put_nowait(action)

    async def _perform(self, action: HubAction) -> None:
        match action:
            case SendMessage() | CloseLink():
                self._perform_all([action])
            case ClaimIdentity():
                await self._claim(action.message)
            case StoreEvents():
                self._store(action.events, is_new=True)
            case CompareEvents():
                self._store(action.events, is_new=False)
            case HandleMessage():
                await self._handle(action.message)
            case _:
                assert_never(action)

    async def _claim(self, message: RegisterMessage) -> None:
        try:
            claimed = await self._intake.claim(self, message)
        except TakenIdentity as error:
            self._perform_all(self._link.refuse("conflict", str(error), CONFLICT_SECONDS))
            return
        except Refused as error:
            self._perform_all(self._link.refuse("busy", str(error), BUSY_SECONDS))
            return
        stored = claimed.machine
        self._perform_all(
            self._link.accept(
                stored.last_number, stored.last_hash, stored.epoch, time.time(), list(claimed.assigned_sessions)
            )
        )
        self._intake.joined(self, message)

    def _store(self, events: Sequence[LinkEvent], *, is_new: bool) -> None:
        """Hand events to the store. They are acknowledged once they are on disk, in their order."""
        stored = self._intake.store(self, events)
        self._unstored.append(stored)

        def finish(done: asyncio.Future[StoreResult]) -> None:
            self._unstored.remove(done)
            if done.cancelled():
                return
            if (error := done.exception()) is not None:
                logger.warning("events were not stored", runner=self.state.runner_id, reason=str(error))
                self._perform_all(self._link.refuse("busy", str(error)[:200], BUSY_SECONDS))
                return
            self._intake.stored(self, done.result())
            if is_new:
                self._perform_all(self._link.store(events[-1].seq_no))

        stored.add_done_callback(finish)

    async def _handle(self, message: Any) -> None:
        match message:
            case ViewMessage():
                await self._intake.show(self, message)
            case CommandResultMessage():
                await self._intake.calls.finish_command(self.state, message)
            case QueryResultMessage():
                self._intake.calls.finish_query(message)
            case RunnerStream():
                self._intake.streams.receive(self.state, message)
            case _:
                self.close(REFUSED, "a message that a hub does not take")
