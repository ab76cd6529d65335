"""A real hub as a process, and a runner that speaks the link's own words."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Raw
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from quarterdeck.link.codec import event_hash, read_hub_frame, write_frame
from quarterdeck.link.messages import (
    AnyHubMessage,
    AnyRunnerMessage,
    BackfillAck,
    BackfillMessage,
    EventAck,
    LinkEvent,
    RegisteredMessage,
    RegisterMessage,
    ViewMessage,
)
from quarterdeck.wire import write_json
from tests.support.daemon import PATIENCE_SECONDS, Daemon, Json, launching

SERVE = (sys.executable, "-m", "quarterdeck", "hub", "serve")


class HubProcess(Daemon):
    """A hub in `home`, used like a daemon."""

    NOTE = "hub.json"

    def __init__(self, home: Path, *, env: Mapping[str, str] | None = None) -> None:
        super().__init__(home, env=env, launch=launching(SERVE))

    def enroll(self, name: str) -> Json:
        """Enrol a machine."""
        status, made = self.api("POST", "/runners", {"name": name})
        assert status == 201, made
        return dict(made)

    def runner(self, runner_id: str) -> Json:
        """A machine as the hub lists it."""
        found = self.api("GET", "/runners")[1]["runners"]
        return next(one for one in found if runner_id in (one["runner_id"], one["enrolment_id"]))

    def feed(self, query: str = "") -> list[Json]:
        """Every event, page by page."""
        found: list[Json] = []
        after = ""
        while True:
            status, page = self.api("GET", f"/feed?limit=50{after}{query}")
            assert status == 200, page
            found += page["events"]
            if page["next"] is None:
                return found
            after = f"&after={page['next']}"

    def pending_views(self) -> list[Json]:
        """The pending requests of all machines."""
        return list(self.api("GET", "/requests?status=pending")[1]["requests"])

    @property
    def link_url(self) -> str:
        return self.url.replace("http://", "ws://") + "/ws/runner"


def event_body(runner_id: str, number: int, text: str = "", session_id: str = "s1") -> bytes:
    """A stored event."""
    run_id = f"{session_id}:R1"
    event = {"seq_no": number, "event_id": f"{run_id}:E{number}", "seq": number, "run_id": run_id}
    event |= {"session_id": session_id, "runner_id": runner_id, "at": 1000.0 + number, "kind": "user.prompt"}
    return write_json(event | {"level": "info", "actor_id": "user", "data": {"prompt": text or f"words {number}"}})


def link_event(runner_id: str, number: int, text: str = "", session_id: str = "s1") -> LinkEvent:
    body = event_body(runner_id, number, text, session_id)
    return LinkEvent(seq_no=number, hash=event_hash(body), event=Raw(body))


def session_view(runner_id: str, session_id: str, **more: Any) -> Raw:
    """A session as a runner's lists show it, as far as a hub looks at it."""
    view: Json = {"session_id": session_id, "runner_id": runner_id, "agent_state": "idle", "state_source": "hooks"}
    view |= {"started_at": 5.0, "ended_at": None, "project_id": None, "actions": [{"name": "send", "possible": True}]}
    return Raw(write_json(view | more))


def request_view(runner_id: str, request_id: str, **more: Any) -> Raw:
    """A request as a runner's lists show it, as far as a hub looks at it."""
    view: Json = {"request_id": request_id, "runner_id": runner_id, "session_id": "s1", "status": "pending"}
    view |= {"digest": "d" * 64, "decisions": ["allow", "deny"], "holder": "connected", "tool_name": "Bash"}
    return Raw(write_json(view | more))


class SimulatedRunner:
    """One connection to a hub."""

    def __init__(self, hub: HubProcess, token: str, runner_id: str, instance: str = "i1") -> None:
        self.runner_id, self.instance = runner_id, instance
        headers = {"Authorization": f"Bearer {token}"}
        self._context = connect(hub.link_url, additional_headers=headers, max_size=None, compression=None)
        self.connection: ClientConnection = self._context.__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._context.__exit__(kind, error, tb)

    def send(self, message: AnyRunnerMessage) -> None:
        self.connection.send(write_frame(message))

    def read(self, seconds: float = PATIENCE_SECONDS) -> AnyHubMessage:
        """The next message of the hub."""
        return read_hub_frame(self.connection.recv(seconds))

    def acknowledgement(self) -> int:
        """The number of the next acknowledgement."""
        while not isinstance(message := self.read(), BackfillAck | EventAck):
            pass
        return message.last_seq_no

    def register(self, seq_no: int = 0, **more: Any) -> AnyHubMessage:
        """Register; the first answer."""
        fields = {"runner_id": self.runner_id, "name": self.runner_id, "instance": self.instance, "version": "0.1.0"}
        self.send(RegisterMessage(seq_no=seq_no, **{**fields, **more}))
        return self.read()

    def join(self, seq_no: int = 0) -> RegisteredMessage:
        """Register, which the hub accepts."""
        answer = self.register(seq_no)
        assert isinstance(answer, RegisteredMessage), answer
        return answer

    def backfill(self, *events: LinkEvent) -> None:
        self.send(BackfillMessage(events=list(events)))

    def view(self, **more: Any) -> None:
        self.send(ViewMessage(**more))

    def closed(self) -> int | None:
        """Read until the hub closes the connection; the code."""
        try:
            while True:
                self.connection.recv(PATIENCE_SECONDS)
        except ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else None
