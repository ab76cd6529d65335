"""Sessions that stand at a dialog of their own, which is not decided from here: who, and the way there; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.session_actions import orders_for
from quarterdeck.surfaces.terminal.session_names import Name
from quarterdeck.surfaces.terminal.styled_text import Line, Span, line
from quarterdeck.surfaces.text.labels import state_word

Json = dict[str, Any]
MOST = 4
"""Sessions that are named; the list of sessions has them all."""


def how_many(count: int) -> str:
    """So many wait elsewhere, in words."""
    return "1 waits at its own terminal" if count == 1 else f"{count} wait at their own terminals"


def way_to(session: Json) -> str:
    """How to get to its terminal."""
    if "terminal" in orders_for(session):
        return "t opens it" if session.get("owned") else "t goes to its tmux pane"
    return f"in {session['cwd'] or 'an unknown folder'}" + (f", process {session['pid']}" if session["pid"] else "")


def standing_lines(sessions: list[Json], names: dict[str, Name]) -> Iterator[Line]:
    """Each of them, and the way there."""
    yield line((how_many(len(sessions)), "waiting"), ": ", Span("n goes there", "key", "screen.next_request"))
    for session in sessions[:MOST]:
        name = names.get(session["session_id"]) or session["session_id"][:8]
        title = f" · {session['title']}" if session["title"] else ""
        glyph = state_word(session["agent_state"]).glyph
        yield line((f"{glyph} ", "waiting"), (str(name), "strong"), f" {way_to(session)}", (title, "dim"), hang=2)
    if len(sessions) > MOST:
        yield line((f"and {len(sessions) - MOST} more", "dim"))
