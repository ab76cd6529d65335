"""Which session a person means by a few letters; pure."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.session_actions import called
from quarterdeck.surfaces.text.labels import project_of

Json = dict[str, Any]
FEW = 5


def session_named(model: Model, word: str) -> Json | str:
    """The one session of this project, or whose id begins so; live ones before ended ones. Where it could be several,
    or none, why, in words."""
    if not word:
        return "Name a session by its project or the start of its id; sessions lists them"
    known = model.shown_sessions(ended=True)
    found = [s for s in known if word in (project_of(s), str(model.name_of(s["session_id"])))]
    found = found or [s for s in known if s["session_id"].startswith(word)]
    live = [s for s in found if s["ended_at"] is None]
    meant = live or found
    if len(meant) == 1:
        return model.placed(meant[0])
    if meant:
        return (
            f"Several are called {word}: {', '.join(called(s) for s in meant[:FEW])}. Name one by the start of its id"
        )
    return f"No session is called {word}; sessions lists them"
