"""The project or folder that a typed text means."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def last_used_at(project: Json) -> float:
    """The last time an agent worked in a project, or it changed, whichever is later."""
    return float(max([project["last_modified"], *(s["last_used_at"] for s in project["prior_sessions"])]))


def matching_projects(projects: Iterable[Json], text: str) -> list[Json]:
    """The projects whose path holds every word: trusted ones first, then those with live sessions, then the latest."""
    words = text.lower().split()
    matches = [p for p in projects if all(word in p["path"].lower() for word in words)]
    return sorted(matches, key=lambda p: (not p["trusted"], -p["live_sessions"], -last_used_at(p), p["path"]))


def typed_folder(text: str) -> str | None:
    """The folder that a text names, if it starts with / or ~/."""
    stripped = text.strip()
    return str(Path(stripped).expanduser()) if stripped.startswith(("/", "~/")) else None
