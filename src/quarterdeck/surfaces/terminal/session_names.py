"""What sessions are called: by their project and, where several work in one, by the start of their id; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from quarterdeck.core.text.titles import cut
from quarterdeck.surfaces.text.labels import project_of

Json = dict[str, Any]
LEAST = 4
"""Characters of an id that are shown at least, where they are needed."""


class Name(NamedTuple):
    """A project, and the mark by which one of several sessions in it is known; none where it is the only one."""

    project: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.project}·{self.mark}" if self.mark else self.project

    def within(self, width: int) -> str:
        """As much as there is room for: the project is shortened first."""
        room = width - len(self.mark) - 1
        return f"{cut(self.project, room)}·{self.mark}" if self.mark and room >= 3 else cut(str(self), width)


def names_of(sessions: Iterable[Json]) -> dict[str, Name]:
    """What each session is called: one that lives is told from the others that do, one that has ended from all."""
    everybody, live = defaultdict(list), defaultdict(list)
    for session in sessions:
        project = project_of(session)
        everybody[project].append(session["session_id"])
        if session["ended_at"] is None:
            live[project].append(session["session_id"])
    names: dict[str, Name] = {}
    for told_apart in (everybody, live):
        for project, ids in told_apart.items():
            length = _enough(ids) if len(ids) > 1 else 0
            names |= {session_id: Name(project, session_id[:length]) for session_id in ids}
    return names


def _enough(ids: list[str]) -> int:
    """How many characters tell these ids apart."""
    lengths = range(LEAST, max(map(len, ids)) + 1)
    return next((n for n in lengths if len({one[:n] for one in ids}) == len(ids)), LEAST)
