"""Sessions that wait at a dialog in their own terminal, which cannot be decided from here; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.session_actions import actions_for
from quarterdeck.surfaces.terminal.session_names import SessionName
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, line
from quarterdeck.surfaces.text.labels import state_label
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
MOST_NAMED = 4
"""Sessions that are named here; the session list has all of them."""


def waiting_count(count: int) -> str:
    """The number of sessions that wait elsewhere, in words."""
    return "1 waits at its own terminal" if count == 1 else f"{count} wait at their own terminals"


def terminal_directions(session: SessionView) -> str:
    """Directions to the terminal of a session."""
    if "terminal" in actions_for(session):
        return "t opens it" if session.owned else "t goes to its tmux pane"
    return f"in {session.cwd or 'an unknown folder'}" + (f", process {session.pid}" if session.pid else "")


def waiting_elsewhere_lines(sessions: list[SessionView], names: dict[str, SessionName]) -> Iterator[StyledLine]:
    """Each waiting session, with directions to its terminal."""
    yield line((waiting_count(len(sessions)), "waiting"), ": ", TextSpan("n goes there", "key", "screen.next_request"))
    for session in sessions[:MOST_NAMED]:
        name = names.get(session.session_id) or session.session_id[:8]
        title = f" · {session.title}" if session.title else ""
        glyph = state_label(session).glyph
        yield line(
            (f"{glyph} ", "waiting"), (str(name), "strong"), f" {terminal_directions(session)}", (title, "dim"), hang=2
        )
    if len(sessions) > MOST_NAMED:
        yield line((f"and {len(sessions) - MOST_NAMED} more", "dim"))
