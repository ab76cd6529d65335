"""Every message between a runner and a hub, in both directions. A frame carries one message."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

PROTOCOL = 1
PATH = "/ws/runner"
LEVELS = ("everything", "no_output", "titles", "nothing")
"""How much of a project's events leaves the machine, most first."""

GAP = "link.gap"
"""The kind of the event that stands for events which the runner no longer has."""

HEARTBEAT_DEAD = 4000
BROKEN_RULE = 4002
REFUSED = 4003
REPLACED = 4005
"""Codes of a close: two heartbeats missed, a message that breaks the protocol, a registration that was refused, the
end of a connection by the hub."""


class LinkEvent(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One event of a runner's log. `hash` is that of the stored text (`codec.event_hash`): it says which event this is,
    whatever was left out of `event`. `withheld` names the level that left something out. A `first` below `seq_no` is
    that of a gap: this event stands for all numbers from `first` to `seq_no`."""

    seq_no: int
    hash: str
    event: Raw
    withheld: str | None = None
    first: int | None = None

    @property
    def begins(self) -> int:
        """The first number that this event stands for."""
        return self.seq_no if self.first is None else self.first


class LinkSettings(Struct, frozen=True, kw_only=True):
    """What the hub asks of a runner. `withhold` is the most that the hub wants to have, one of `LEVELS`."""

    heartbeat_seconds: float = 15.0
    batch_size: int = 100
    withhold: str = "everything"


class HubRule(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule that a person made at the hub, for every machine."""

    rule_id: str
    effect: str
    pattern: str
    created_at: float
    created_by: str
    expires_at: float | None = None
    note: str | None = None


class RunnerMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """A message of a runner."""


class HubMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """A message of a hub."""


# runner to hub


class RegisterMessage(RunnerMessage, frozen=True, kw_only=True, tag="runner.register"):
    """The first message of a runner. `seq_no` is the last event of its log. `instance` is different for each start of
    the daemon: a runner that connects again replaces its own lost connection, and a copy of it does not."""

    runner_id: str
    name: str
    seq_no: int
    instance: str = ""
    version: str = ""
    capabilities: list[str] = []
    active_sessions: list[str] = []
    protocol: int = PROTOCOL


class BackfillMessage(RunnerMessage, frozen=True, kw_only=True, tag="event.backfill"):
    """Events that the hub does not have yet, in order."""

    events: list[LinkEvent]


class EventsMessage(RunnerMessage, frozen=True, kw_only=True, tag="event"):
    """New events, in order; normally one."""

    events: list[LinkEvent]


class ViewMessage(RunnerMessage, frozen=True, kw_only=True, tag="view"):
    """Sessions and requests as the runner's own lists show them. A snapshot replaces everything that the hub had of
    this runner; in a snapshot `gone_sessions` names assigned sessions that do not run."""

    snapshot: bool = False
    sessions: list[Raw] = []
    requests: list[Raw] = []
    gone_sessions: list[str] = []
    gone_requests: list[str] = []


class CommandResultMessage(RunnerMessage, frozen=True, kw_only=True, tag="command.result"):
    """The answer of REST to a command: `status` is the status code, `body` the JSON, also of an error."""

    id: str
    ok: bool
    status: int
    body: Raw


class QueryResultMessage(RunnerMessage, frozen=True, kw_only=True, tag="query.result"):
    """The answer of REST to a query."""

    id: str
    ok: bool
    status: int
    body: Raw


class RunnerStream(RunnerMessage, frozen=True, kw_only=True, tag="stream"):
    """A part of a stream that the hub opened. `data` of a terminal is base64; `kind` is `end` when no more follows,
    with the reason as `data`."""

    stream: int
    session_id: str
    kind: str
    data: Any


class RunnerPing(RunnerMessage, frozen=True, kw_only=True, tag="ping"):
    """A heartbeat."""


class RunnerPong(RunnerMessage, frozen=True, kw_only=True, tag="pong"):
    """The answer to a heartbeat."""


# hub to runner


class RegisteredMessage(HubMessage, frozen=True, kw_only=True, tag="runner.registered"):
    """The answer to a registration: the last event that the hub has stored, and the epoch of this connection, higher
    than that of every earlier one. `last_hash` is the hash of that event, by which the runner sees whether this is its
    log. `at` is the hub's clock, to which the expiry of commands refers. `assigned_sessions` are those that the hub
    started there and believes to run."""

    last_seq_no: int
    epoch: int
    at: float
    last_hash: str = ""
    assigned_sessions: list[str] = []
    config: LinkSettings = LinkSettings()


class BackfillAck(HubMessage, frozen=True, kw_only=True, tag="backfill.ack"):
    """Everything up to this number is stored."""

    last_seq_no: int


class EventAck(HubMessage, frozen=True, kw_only=True, tag="event.ack"):
    """Everything up to this number is stored."""

    last_seq_no: int


class RemoteCommand(HubMessage, frozen=True, kw_only=True, tag="session.command"):
    """An operation that changes something, by its name in the API. `actor` is the person at the hub, `scope` the scopes
    that the hub gave them, separated by spaces, `args` those of a command of the WebSocket."""

    id: str
    expires_at: float
    epoch: int
    actor: str
    scope: str
    name: str
    args: dict[str, Any] = {}


class RemoteQuery(HubMessage, frozen=True, kw_only=True, tag="query"):
    """An operation that only reads. `deadline` is how many seconds the hub waits for the result."""

    id: str
    name: str
    actor: str
    scope: str
    args: dict[str, Any] = {}
    deadline: float = 5.0


class AttendingMessage(HubMessage, frozen=True, kw_only=True, tag="attending"):
    """How many people look at the hub now."""

    people: int


class RulesMessage(HubMessage, frozen=True, kw_only=True, tag="rules"):
    """All rules of the hub; they replace those that it sent before."""

    rules: list[HubRule]


class OpenStream(HubMessage, frozen=True, kw_only=True, tag="stream.open"):
    """A request for a session's terminal (`terminal`) or for what its agent writes now (`text`). At most `credit` bytes
    of data are sent before more credit comes."""

    stream: int
    session_id: str
    kind: str
    credit: int
    cols: int = 120
    rows: int = 40


class StreamCredit(HubMessage, frozen=True, kw_only=True, tag="stream.credit"):
    """More bytes that the stream may send."""

    stream: int
    bytes: int


class CloseStream(HubMessage, frozen=True, kw_only=True, tag="stream.close"):
    """The end of a stream."""

    stream: int


class RefusalMessage(HubMessage, frozen=True, kw_only=True, tag="refused"):
    """The reason why the hub closes the connection next. `kind` is conflict, unknown_runner, protocol, expelled or
    busy; `retry_after` is how many seconds the runner waits at least."""

    kind: str
    message: str
    retry_after: float | None = None


class HubPing(HubMessage, frozen=True, kw_only=True, tag="ping"):
    """A heartbeat."""


class HubPong(HubMessage, frozen=True, kw_only=True, tag="pong"):
    """The answer to a heartbeat."""


AnyRunnerMessage = (
    RegisterMessage
    | BackfillMessage
    | EventsMessage
    | ViewMessage
    | CommandResultMessage
    | QueryResultMessage
    | RunnerStream
    | RunnerPing
    | RunnerPong
)
AnyHubMessage = (
    RegisteredMessage
    | BackfillAck
    | EventAck
    | RemoteCommand
    | RemoteQuery
    | AttendingMessage
    | RulesMessage
    | OpenStream
    | StreamCredit
    | CloseStream
    | RefusalMessage
    | HubPing
    | HubPong
)
runner_decoder: msgspec.json.Decoder[AnyRunnerMessage] = msgspec.json.Decoder(AnyRunnerMessage)
hub_decoder: msgspec.json.Decoder[AnyHubMessage] = msgspec.json.Decoder(AnyHubMessage)
