"""Going round all who wait: from card to card, then to those who stand at a terminal of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quarterdeck.surfaces.terminal.elsewhere_lines import way_to
from quarterdeck.surfaces.tui.panes.session_list import Sessions

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.main_screen import Bridge

Json = dict[str, Any]


def go_on(bridge: Bridge) -> None:
    """To the desk; from there to the next card, after the last to who waits elsewhere, and then to the first card."""
    pending, is_here, place = bridge.face.model.pending, bridge.desk.has_focus, _place(bridge)
    elsewhere = _next_elsewhere(bridge, place)
    if elsewhere is not None and (not pending or not is_here or pending[-1] is bridge.desk.asked):
        _go_to(bridge, elsewhere)
    elif is_here:
        bridge.action_turn(1)
    else:
        if pending and place is not None:
            bridge.turn_to(pending[0])
        bridge.desk.focus()


def _place(bridge: Bridge) -> int | None:
    """Which of those who wait elsewhere is under the cursor of the list."""
    pointed = bridge.sessions.pointed if isinstance(bridge.focused, Sessions) else None
    ids = [session["session_id"] for session in bridge.face.model.standing]
    return ids.index(pointed["session_id"]) if pointed and pointed["session_id"] in ids else None


def _next_elsewhere(bridge: Bridge, place: int | None) -> Json | None:
    """Who waits elsewhere, after the one that was gone to; nobody after the last, where a card waits."""
    standing = bridge.face.model.standing
    if place is not None and place + 1 < len(standing):
        return standing[place + 1]
    leads = bridge.desk.has_focus or not bridge.face.model.pending
    return standing[0] if standing and leads else None


def _go_to(bridge: Bridge, session: Json) -> None:
    """To its row and its feed, with a word how to get to its terminal."""
    bridge.look_at(session["session_id"])
    name = bridge.face.model.name_of(session["session_id"])
    bridge.face.say(f"{name} waits at its own terminal: {way_to(session)}", "warning")
