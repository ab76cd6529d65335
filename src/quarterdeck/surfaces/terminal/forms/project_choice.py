"""The project or folder that a typed text means."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from quarterdeck.views.workspace.project_view import ProjectView


def last_used_at(project: ProjectView) -> float:
    """The last time an agent worked in a project, or it changed, whichever is later."""
    return max([project.last_modified, *(session.last_used_at for session in project.prior_sessions)])


def matching_projects(projects: Iterable[ProjectView], text: str) -> list[ProjectView]:
    """The projects whose path holds every word: trusted ones first, then those with live sessions, then the latest."""
    words = text.lower().split()
    matches = [p for p in projects if all(word in p.path.lower() for word in words)]
    return sorted(matches, key=lambda p: (not p.trusted, -p.live_sessions, -last_used_at(p), p.path))


def typed_folder(text: str) -> str | None:
    """The folder that a text names, if it starts with / or ~/."""
    stripped = text.strip()
    return str(Path(stripped).expanduser()) if stripped.startswith(("/", "~/")) else None
