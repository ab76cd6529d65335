"""Data of the events of a key deck and of an editor's terminals."""

from __future__ import annotations

from quarterdeck.core.model.event_data.base import Data


class TerminalData(Data, frozen=True, gc=False, kw_only=True):
    """A terminal of an editor that opened, changed or closed. `client_id` names the editor's connection."""

    terminal_id: str
    name: str | None = None
    pid: int | None = None
    tag: str | None = None
    active: bool = False
    client_id: str | None = None


class OperatorArmData(Data, frozen=True, gc=False, kw_only=True):
    """A prompt that was armed, or none. `typed`: it already stands in the session's terminal."""

    prompt_id: str | None = None
    style: str | None = None
    typed: bool = False
    by: str | None = None


class OperatorPageData(Data, frozen=True, gc=False, kw_only=True):
    """The page that the deck turned to."""

    page: int
    by: str | None = None


class OperatorSelectData(Data, frozen=True, gc=False, kw_only=True):
    """What the operator chose: a terminal or a session by the roller, a request by Next, or `always` for a request."""

    what: str
    id: str | None = None
    by: str | None = None


class OperatorDispatchData(Data, frozen=True, gc=False, kw_only=True):
    """A text on its way to a session: sending, then delivered or undelivered with the reason."""

    prompt_id: str | None = None
    delivered: bool = False
    session_id: str | None = None
    route: str | None = None
    message_id: str | None = None
    outcome: str | None = None
    reason: str | None = None
    by: str | None = None
