"""Actions: what a state machine of the link asks the code around it to do."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from quarterdeck.link.messages import AnyHubMessage, AnyRunnerMessage, LinkEvent, RegisterMessage


class SendMessage(Struct, frozen=True):
    """Send this message now."""

    message: AnyRunnerMessage | AnyHubMessage


class CloseLink(Struct, frozen=True):
    """Close the connection with this code and reason; nothing that comes after counts."""

    code: int
    reason: str


class SaveCursor(Struct, frozen=True):
    """Keep this number as what the hub has: everything up to it may be trimmed."""

    seq_no: int


class HandleMessage(Struct, frozen=True):
    """Handle a message that is about more than the stream of events."""

    message: AnyRunnerMessage | AnyHubMessage


class ClaimIdentity(Struct, frozen=True):
    """A runner wants to register: accept or refuse it."""

    message: RegisterMessage


class StoreEvents(Struct, frozen=True):
    """Store these events, and report when they are stored; they follow the last ones."""

    events: Sequence[LinkEvent]


class CompareEvents(Struct, frozen=True):
    """These events came before: compare their hashes with the stored ones. Another hash is a conflict."""

    events: Sequence[LinkEvent]


RunnerAction = SendMessage | CloseLink | SaveCursor | HandleMessage
HubAction = SendMessage | CloseLink | HandleMessage | ClaimIdentity | StoreEvents | CompareEvents
