"""Sessions that wait at a dialog in their own terminal, which cannot be decided here, and how to reach them."""

from __future__ import annotations

from collections.abc import Iterable

from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.views.resources.session_view import SessionView

WAITS = ("waiting_permission", "waiting_input")


def waits_elsewhere(session: SessionView) -> bool:
    """True when a session waits for a person, but not for a request here."""
    return session.ended_at is None and session.agent_state in WAITS and not session.pending


def waiting_elsewhere_texts(sessions: Iterable[SessionView]) -> list[str]:
    """Every session that waits elsewhere, with the command or folder to reach it; empty when there is none."""
    found = [f"{s.session_id[:8]} {project_of(s)} ({_directions(s)})" for s in sessions if waits_elsewhere(s)]
    if len(found) > 1:
        return [f"{len(found)} sessions wait at their own terminals:", *(f"  {one}" for one in found)]
    return [f"1 session waits at its own terminal: {one}" for one in found]


def _directions(session: SessionView) -> str:
    """The command that attaches to a session's terminal; its folder when the terminal is unknown."""
    owned = session.owned
    has_terminal = owned is not None and owned.status in ("starting", "up") and session.mode != "sdk"
    if has_terminal or session.where:
        return f"qd attach {session.session_id[:8]}"
    return f"in {session.cwd or 'no known folder'}"
