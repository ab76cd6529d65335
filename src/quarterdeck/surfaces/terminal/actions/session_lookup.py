"""Find the session that a person means by a project or a few letters of its id; pure."""

from __future__ import annotations

from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.session_actions import session_label
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.views.resources.session_view import SessionView

MOST_NAMED = 5


def find_session(model: Model, word: str) -> SessionView:
    """The one session with this project, name or start of an id; live ones win over ended ones. Raises `Refused`
    when there is none, or more than one."""
    if not word:
        raise Refused("Name a session by its project or the start of its id; type `sessions` to list them")
    known = model.shown_sessions(ended=True)
    matches = [s for s in known if word in (project_of(s), str(model.name_of(s.session_id)))]
    matches = matches or [s for s in known if s.session_id.startswith(word)]
    candidates = [s for s in matches if s.ended_at is None] or matches
    if not candidates:
        raise Refused(f"No session is called {word}; type `sessions` to list them")
    if len(candidates) > 1:
        labels = ", ".join(session_label(s) for s in candidates[:MOST_NAMED])
        raise Refused(f"Several are called {word}: {labels}. Name one by the start of its id")
    return model.with_terminal_command(candidates[0])
