"""The `n` key: from card to card, then to the sessions that wait at their own terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quarterdeck.surfaces.terminal.lines.waiting_elsewhere_lines import terminal_directions
from quarterdeck.surfaces.tui.panes.session_list import SessionPane
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.main_screen import MainScreen


def go_to_next_waiting(screen: MainScreen) -> None:
    """Go to the desk; from there to the next card, after the last one to the sessions that wait elsewhere, and back."""
    pending, is_here, place = screen.tui.model.pending, screen.desk.has_focus, _highlighted_place(screen)
    elsewhere = _next_elsewhere(screen, place)
    if elsewhere is not None and (not pending or not is_here or pending[-1] is screen.desk.item):
        _go_to(screen, elsewhere)
    elif is_here:
        screen.action_turn(1)
    else:
        if pending and place is not None:
            screen.turn_to(pending[0])
        screen.desk.focus()


def _highlighted_place(screen: MainScreen) -> int | None:
    """The place of the highlighted session among those that wait elsewhere."""
    session = screen.sessions.highlighted if isinstance(screen.focused, SessionPane) else None
    ids = [waiting.session_id for waiting in screen.tui.model.waiting_elsewhere]
    return ids.index(session.session_id) if session and session.session_id in ids else None


def _next_elsewhere(screen: MainScreen, place: int | None) -> SessionView | None:
    """The session that waits elsewhere after the one at `place`; none after the last one while a card waits."""
    waiting = screen.tui.model.waiting_elsewhere
    if place is not None and place + 1 < len(waiting):
        return waiting[place + 1]
    starts = screen.desk.has_focus or not screen.tui.model.pending
    return waiting[0] if waiting and starts else None


def _go_to(screen: MainScreen, session: SessionView) -> None:
    """Go to its row and its feed, with directions to its terminal."""
    screen.go_to_session(session.session_id)
    name = screen.tui.model.name_of(session.session_id)
    screen.tui.say(f"{name} waits at its own terminal: {terminal_directions(session)}", "warning")
