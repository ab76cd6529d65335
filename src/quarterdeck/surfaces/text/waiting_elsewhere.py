"""Who waits at a dialog of its own, where nobody can decide from here: which sessions, and how to get there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quarterdeck.surfaces.text.labels import project_of

WAITS = ("waiting_permission", "waiting_input")


def waits_elsewhere(session: Mapping[str, Any]) -> bool:
    """Whether it waits for a person, and no request here is what it waits for."""
    return session["ended_at"] is None and session["agent_state"] in WAITS and not session["pending"]


def elsewhere_lines(sessions: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each session that waits so, with the way to it; nothing when none does."""
    found = [f"{s['session_id'][:8]} {project_of(s)} ({_way(s)})" for s in sessions if waits_elsewhere(s)]
    if len(found) > 1:
        return [f"{len(found)} sessions wait at their own terminals:", *(f"  {one}" for one in found)]
    return [f"1 session waits at its own terminal: {one}" for one in found]


def _way(session: Mapping[str, Any]) -> str:
    """The command that leads there; for a terminal that nobody here knows its folder."""
    owned = session.get("owned")
    ours = owned is not None and owned["status"] in ("starting", "up") and session["mode"] != "sdk"
    if ours or session.get("where"):
        return f"qd attach {session['session_id'][:8]}"
    return f"in {session['cwd'] or 'no known folder'}"
