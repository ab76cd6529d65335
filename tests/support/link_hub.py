"""A small hub in the test's own process: it keeps what a runner sends in memory, and asks what a test wants to ask."""

from __future__ import annotations

import itertools
import json
import threading
import time
from types import TracebackType
from typing import Any, Self

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from quarterdeck.link.actions import ClaimIdentity, CloseLink, CompareEvents, HandleMessage, SendMessage, StoreEvents
from quarterdeck.link.codec import MAX_BYTES, read_runner_frame, write_frame
from quarterdeck.link.holders import Holders
from quarterdeck.link.hub_link import HubLink
from quarterdeck.link.messages import (
    AnyHubMessage,
    CommandResultMessage,
    LinkEvent,
    LinkSettings,
    QueryResultMessage,
    RemoteCommand,
    RemoteQuery,
    RunnerStream,
    ViewMessage,
)
from tests.support.daemon import until

ALL_SCOPES = "observe approve edit prompt control"
TOKEN = "qdr_test_token_of_the_test_hub_0123456789"


class LinkHub:
    """A hub for one runner. It stores and acknowledges at once, unless `is_holding`."""

    def __init__(self, settings: LinkSettings | None = None, port: int = 0) -> None:
        self.settings = settings or LinkSettings(heartbeat_seconds=5.0)
        self.stored: list[LinkEvent] = []
        self.sessions: dict[str, Any] = {}
        self.requests: dict[str, Any] = {}
        self.gone: list[str] = []
        self.streams: list[RunnerStream] = []
        self.results: dict[str, CommandResultMessage | QueryResultMessage] = {}
        self.received = bytearray()
        self.conflicts: list[int] = []
        self.snapshots = self.registrations = self.wire_bytes = 0
        self.is_holding = False
        self.tokens: list[str] = []
        self.assigned: list[str] = []
        self.epoch = 0
        self._holders, self._ids = Holders(), itertools.count(1)
        self._live: tuple[ServerConnection, HubLink] | None = None
        self._lock = threading.RLock()
        self._port = port
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def open(self) -> None:
        """Listen, on the same port as before."""
        self._server = serve(self._serve, "127.0.0.1", self._port, compression=None, max_size=MAX_BYTES)
        self._port = self._server.socket.getsockname()[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening, and cut the connection."""
        if self._server is not None:
            self._server.shutdown()
            self._server = None
        self.cut()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """Cut the connection without a word."""
        if self._live is not None:
            self._live[0].socket.close()

    @property
    def is_connected(self) -> bool:
        return self._live is not None and self._live[1].is_registered

    def _serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.tokens.append(connection.request.headers.get("Authorization", ""))
        link = HubLink(None, self.settings, time.monotonic())
        try:
            for frame in connection:
                self.wire_bytes += len(frame)
                message = read_runner_frame(frame)
                self.received += msgspec.json.encode(message)
                with self._lock:
                    self._perform(connection, link, link.receive(message))
        except (ConnectionClosed, OSError):
            pass
        finally:
            with self._lock:
                link.close()
                self._holders.release(link.runner_id or "", link.epoch)
                if self._live is not None and self._live[1] is link:
                    self._live = None

    def _perform(self, connection: ServerConnection, link: HubLink, actions: Any) -> None:
        for action in actions:
            match action:
                case SendMessage(message=message):
                    connection.send(write_frame(message))
                case CloseLink(code=code, reason=reason):
                    connection.close(code, reason)
                case ClaimIdentity(message=register):
                    claim = self._holders.claim(register.runner_id, register.instance, self.epoch)
                    if claim.holder is None:
                        self._perform(connection, link, link.refuse("conflict", "another machine is connected"))
                        continue
                    self.epoch = claim.holder.epoch
                    self.registrations += 1
                    self._live = connection, link
                    last = self.stored[-1] if self.stored else None
                    accepted = link.accept(
                        last.seq_no if last else 0, last.hash if last else "", self.epoch, time.time(), self.assigned
                    )
                    self._perform(connection, link, accepted)
                case StoreEvents(events=events):
                    self.stored += events
                    if not self.is_holding:
                        self._perform(connection, link, link.store(events[-1].seq_no))
                case CompareEvents(events=events):
                    known = {event.seq_no: event.hash for event in self.stored}
                    self.conflicts += [e.seq_no for e in events if known.get(e.seq_no) not in (None, e.hash)]
                    if self.conflicts:
                        self._perform(connection, link, link.refuse("conflict", "another event under a known number"))
                case HandleMessage(message=message):
                    self._take(message)

    def _take(self, message: Any) -> None:
        match message:
            case ViewMessage():
                if message.snapshot:
                    self.snapshots += 1
                    self.sessions, self.requests = {}, {}
                    self.gone = message.gone_sessions
                for view in map(msgspec.json.decode, message.sessions):
                    self.sessions[view["session_id"]] = view
                for view in map(msgspec.json.decode, message.requests):
                    self.requests[view["request_id"]] = view
            case CommandResultMessage() | QueryResultMessage():
                self.results[message.id] = message
            case RunnerStream():
                self.streams.append(message)

    def send(self, message: AnyHubMessage) -> None:
        """Send a message to the runner."""
        assert self._live is not None
        self._live[0].send(write_frame(message))

    def acknowledge(self) -> None:
        """Acknowledge what was held back, and hold nothing back any more."""
        with self._lock:
            self.is_holding = False
            if self._live is not None:
                self._perform(*self._live, self._live[1].store(self.stored[-1].seq_no))

    def until_connected(self) -> None:
        until(lambda: self.is_connected, what="a registered runner")

    def until_stored(self, count: int) -> list[LinkEvent]:
        until(lambda: self.stored and self.stored[-1].seq_no >= count, what=f"{count} events at the hub")
        return self.stored

    def bodies(self) -> list[dict[str, Any]]:
        """The events that were stored."""
        return [json.loads(bytes(event.event)) for event in self.stored]

    def command(self, name: str, /, *, actor: str = "Ada", granted: str = ALL_SCOPES, **more: Any) -> tuple[int, Any]:
        """Run a command, and give the answer. `id`, `epoch` and `expires_in` may be given."""
        command_id = more.pop("id", None) or f"c{next(self._ids)}"
        epoch, seconds = more.pop("epoch", self.epoch), more.pop("expires_in", 30.0)
        self.results.pop(command_id, None)
        self.send(
            RemoteCommand(
                id=command_id,
                epoch=epoch,
                expires_at=time.time() + seconds,
                actor=actor,
                scope=granted,
                name=name,
                args=more,
            )
        )
        return self._answer(command_id)

    def query(self, name: str, /, *, granted: str = "observe", deadline: float = 30.0, **args: Any) -> tuple[int, Any]:
        """Ask, and give the answer."""
        query_id = f"q{next(self._ids)}"
        self.send(RemoteQuery(id=query_id, name=name, actor="Ada", scope=granted, args=args, deadline=deadline))
        return self._answer(query_id)

    def _answer(self, call_id: str) -> tuple[int, Any]:
        until(lambda: call_id in self.results, what=f"the result of {call_id}")
        result = self.results[call_id]
        return result.status, json.loads(bytes(result.body))
