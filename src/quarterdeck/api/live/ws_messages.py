"""Every message of the WebSocket, in both directions, and the JSON Schema of them that is published."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from quarterdeck import __version__
from quarterdeck.api.http.endpoint import Id
from quarterdeck.core.deck.render_model import RenderModel
from quarterdeck.views.resources.event_view import EventView
from quarterdeck.views.resources.request_view import RequestView
from quarterdeck.views.resources.session_view import SessionView

PROTOCOL = 2
Cursor = int | str
"""A position in the feed, passed back unchanged: a number from a daemon, a string from a hub."""
Topics = Annotated[list[str], Meta(max_length=1000)]
AnyId = Annotated[Any, Meta(description="Any JSON value; the answer has the same.")]


class ClientMessage(Struct, kw_only=True, tag_field="type"):
    """A message of a client."""


class Hello(ClientMessage, kw_only=True, tag="hello"):
    """The first message of a client. `after` is the cursor of the last event that it has, `client_id` names it over
    reconnects. With the capability `binary` it takes terminals as binary frames, and with `commands` commands."""

    protocol: int
    client: str = ""
    version: str = ""
    token: str | None = None
    after: Cursor | None = None
    client_id: Id | None = None
    capabilities: Annotated[list[str], Meta(max_length=20)] = []
    topics: list[str] = []


class CommandMessage(ClientMessage, kw_only=True, tag="command"):
    """A command: an operation of the API with its arguments. The `ack` of the same id answers it."""

    id: AnyId = None
    name: Annotated[Any, Meta(description="The name of an operation.")] = ""
    args: Annotated[Any, Meta(description="Its arguments, an object.")] = None


class Subscribe(ClientMessage, kw_only=True, tag="subscribe"):
    """Follow more topics. `subscribed` answers it, after a snapshot of those that have one."""

    topics: Topics


class Unsubscribe(ClientMessage, kw_only=True, tag="unsubscribe"):
    """Follow fewer topics. `subscribed` answers it."""

    topics: Topics


class Visible(ClientMessage, kw_only=True, tag="visible"):
    """Whether a person sees this surface now, and the session and request that it shows."""

    visible: bool
    session_id: Id | None = None
    request_id: Id | None = None


class CommandResult(ClientMessage, kw_only=True, tag="ack"):
    """The answer of a client to a `command` of the daemon."""

    id: Id
    ok: bool = True
    result: Any = None
    error: Any = None


class Taken(ClientMessage, kw_only=True, tag="taken"):
    """Bytes of binary frames that the client has processed: it may be sent as many more."""

    bytes: Annotated[int, Meta(ge=0)]


class Ping(ClientMessage, kw_only=True, tag="ping"):
    """Answered by a `pong` with the same id."""

    id: AnyId = None


AnyClientMessage = Hello | CommandMessage | Subscribe | Unsubscribe | Visible | CommandResult | Taken | Ping
KINDS = tuple(sorted(str(kind.__struct_config__.tag) for kind in ClientMessage.__subclasses__()))
"""The types of a client's messages."""


class ServerMessage(Struct, kw_only=True, tag_field="type"):
    """A message of the daemon."""


class HelloReply(ServerMessage, kw_only=True, tag="hello"):
    """The answer to a hello. `resume` is `gap` when events after the client's cursor are no longer kept."""

    protocol: int
    daemon_version: str
    runner_id: str
    seq_no: int
    cursor: Cursor
    resume: Literal["ok", "gap"]
    client_id: str


class ClientView(Struct, kw_only=True):
    """A connected surface. `visible` means that a person can see it; `session_id` and `request_id` are what it
    shows."""

    client_id: str
    client: str
    version: str
    name: str
    since: float
    visible: bool
    session_id: str | None
    request_id: str | None
    capabilities: list[str]
    runner_id: str


class Snapshot(ServerMessage, kw_only=True, tag="snapshot"):
    """Everything of these topics as it is now."""

    sessions: list[SessionView] | UnsetType = UNSET
    requests: list[RequestView] | UnsetType = UNSET
    clients: list[ClientView] | UnsetType = UNSET


class Subscribed(ServerMessage, kw_only=True, tag="subscribed"):
    """The topics that the client follows from now on. The feed continues after `cursor`."""

    topics: list[str]
    cursor: Cursor


class EventMessage(ServerMessage, kw_only=True, tag="event"):
    """An event of the feed."""

    event: EventView
    cursor: Cursor


class RequestMessage(ServerMessage, kw_only=True, tag="request"):
    """A request that is new or has changed."""

    request: RequestView


class SessionMessage(ServerMessage, kw_only=True, tag="session"):
    """A session that is new or has changed."""

    session: SessionView


class ClientsMessage(ServerMessage, kw_only=True, tag="clients"):
    """All connected surfaces, after one came, left, or shows something else."""

    clients: list[ClientView]


class RenderMessage(ServerMessage, kw_only=True, tag="render"):
    """What a key deck shows: at once for the topic `render`, then after each change."""

    model: RenderModel


class StreamMessage(ServerMessage, kw_only=True, tag="stream"):
    """Output that is not part of the feed: text as it is written (`text`, `message`), or a terminal (`reset`,
    `terminal` in base64, `terminal.size`)."""

    session_id: str
    kind: str
    data: Any


class StreamOpen(ServerMessage, kw_only=True, tag="stream_open"):
    """A terminal that comes as binary frames of this number: first its current screen, then its output. It replaces
    the earlier stream of the session."""

    stream: int
    session_id: str
    offset: int


class ClientCommand(ServerMessage, kw_only=True, tag="command"):
    """A command for this client, to be carried out before `expires_at` and answered by an `ack`."""

    id: str
    kind: str
    target: str | None
    payload: Any
    expires_at: float


class Ack(ServerMessage, kw_only=True, tag="ack"):
    """The answer to a command: its result, or the error that REST would answer."""

    id: AnyId
    ok: bool
    result: Any | UnsetType = UNSET
    error: dict[str, Any] | UnsetType = UNSET


class NoticeMessage(ServerMessage, kw_only=True, tag="notice"):
    """Something that a person or a programmer should know."""

    message: str


class Gap(ServerMessage, kw_only=True, tag="gap"):
    """The client was too slow; it must connect again with its last cursor."""

    seq_no: int


class Pong(ServerMessage, kw_only=True, tag="pong"):
    """The answer to a ping."""

    id: AnyId


def version_notice(hello: Hello) -> list[NoticeMessage]:
    """What a terminal UI of another version must restart: it stayed open during an upgrade. It says so by itself, but
    one of 0.1.0 names the daemon, whichever is older."""
    if hello.client != "tui" or hello.version in ("", __version__):
        return []
    text = f"this UI is {hello.version[:20]}, the daemon {__version__}: restart the older one"
    return [NoticeMessage(message=text)]


AnyServerMessage = (
    HelloReply
    | Snapshot
    | Subscribed
    | EventMessage
    | RequestMessage
    | SessionMessage
    | ClientsMessage
    | RenderMessage
    | StreamMessage
    | StreamOpen
    | ClientCommand
    | Ack
    | NoticeMessage
    | Gap
    | Pong
)


@cache  # made once: it is large, and never changes while the daemon runs
def message_schema() -> dict[str, Any]:
    """`$defs` has every message; `client` and `server` are those that may be sent by either side."""
    (client, server), components = msgspec.json.schema_components(
        [AnyClientMessage, AnyServerMessage], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Quarterdeck's WebSocket, protocol {PROTOCOL}",
        "description": "A frame is one of these messages as JSON, or an array of them.",
        "$defs": {name: _plain(one) for name, one in components.items()} | {"client": client, "server": server},
    }


def _plain(schema: Any) -> Any:
    """The schema with patterns that JavaScript reads too, and descriptions on one line."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _plain(value) for key, value in schema.items()}
    if isinstance(found.get("pattern"), str):
        found["pattern"] = found["pattern"].removesuffix(r"\Z") + "$" * found["pattern"].endswith(r"\Z")
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split())
    return found
