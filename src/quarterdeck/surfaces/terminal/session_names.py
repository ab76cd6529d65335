"""Names of sessions: the project and, where it has several sessions, the start of the id; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from quarterdeck.core.text.amounts import cut
from quarterdeck.surfaces.text.labels import project_of
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]
MIN_ID_LENGTH = 4
"""Characters of an id that are shown at least, where an id is needed."""


class SessionName(NamedTuple):
    """A project, and the start of the id that tells its sessions apart; empty for the only one."""

    project: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.project}·{self.mark}" if self.mark else self.project

    def within(self, width: int) -> str:
        """The name cut to a width: the project is shortened first, so that the mark stays."""
        room = width - len(self.mark) - 1
        return f"{cut(self.project, room)}·{self.mark}" if self.mark and room >= 3 else cut(str(self), width)


def session_names(sessions: Iterable[SessionView]) -> dict[str, SessionName]:
    """The names by id. A live session's name differs from those of other live ones, an ended one's from all. Where
    there are several machines, the machine is named first."""
    every, live = defaultdict(list), defaultdict(list)
    listed = list(sessions)
    has_machines = len({session.runner_id for session in listed}) > 1
    for session in listed:
        project = f"{machine_of(session)}:{project_of(session)}" if has_machines else project_of(session)
        every[project].append(session.session_id)
        if session.ended_at is None:
            live[project].append(session.session_id)
    names: dict[str, SessionName] = {}
    for group in (every, live):  # live last: its shorter names replace those from the first pass
        for project, ids in group.items():
            length = _distinct_length(ids) if len(ids) > 1 else 0
            names |= {session_id: SessionName(project, session_id[:length]) for session_id in ids}
    return names


def machine_of(session: SessionView) -> str:
    """The name of a session's machine, as a hub gives it; else its id."""
    return session.runner_name or session.runner_id


def _distinct_length(ids: list[str]) -> int:
    """The number of characters that tells these ids apart."""
    lengths = range(MIN_ID_LENGTH, max(map(len, ids)) + 1)
    return next((n for n in lengths if len({one[:n] for one in ids}) == len(ids)), MIN_ID_LENGTH)
