"""The way of a text to the shown session: over its SDK, into a terminal of Quarterdeck, or through an editor."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from quarterdeck.core.deck.shown_session import hooks_mode, terminal_of_session
from quarterdeck.core.model.agent_state import WAITING
from quarterdeck.core.model.state import EditorTerminal, Session, State

RouteName = Literal["sdk", "terminal", "editor", "tmux"]
NOT_KNOWN = "the session is not known: select its terminal first"


class DeckRoute(Struct, frozen=True):
    """A way to a session. `terminal` is that of an editor, for the route of that name."""

    name: RouteName
    session: Session
    terminal: EditorTerminal | None = None


def route_to(state: State, session: Session | None) -> DeckRoute | str:
    """The best honest way to a session, or the reason why nothing is sent. Nothing is typed while a dialog is open: the
    text would answer it."""
    if session is None:
        return NOT_KNOWN
    if session.ended_at is not None:
        return "the session has ended: start or resume one first"
    if session.runs_here and session.mode == "sdk":
        return DeckRoute("sdk", session)
    if session.waiting or session.agent_state in WAITING:
        return "a dialog is open: decide it first"
    if session.runs_here:
        return DeckRoute("terminal", session)
    terminal = terminal_of_session(state, session)
    if terminal is None:
        return DeckRoute("tmux", session)
    if hooks_mode(session) == "absent":
        return "no hook reports what the session does, so an open dialog would not be seen: type it there"
    return DeckRoute("editor", session, terminal)
