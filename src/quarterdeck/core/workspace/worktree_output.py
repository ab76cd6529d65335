"""Readers for git's output about worktrees, changes and settings; and the names of sessions' worktrees."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

PREFIX = "quarterdeck/"
SHORT = 8
MAX_NAME = 40
"""Characters of an id and of a project's name in a folder's name: short enough to read in a prompt."""
_BRANCHES = "refs/heads/"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


class WorktreeEntry(Struct, frozen=True, kw_only=True):
    """One worktree of a repository; without a branch its head is detached."""

    path: str
    branch: str | None = None


class FileChange(Struct, frozen=True, kw_only=True):
    """The number of lines added to and removed from a file; None if it is not text."""

    path: str
    added: int | None
    removed: int | None


def branch_of(session_id: str) -> str:
    """The branch that a session works on."""
    return f"{PREFIX}{_short(session_id)}"


def folder_name(project: str, session_id: str) -> str:
    """The folder name of a session's worktree: the project's name, so that a person recognises it, and an id."""
    name = _ODD.sub("_", project.rstrip("/").rpartition("/")[2]).strip("._-")[:MAX_NAME]
    return f"{name or 'project'}-{_short(session_id)}"


def _short(session_id: str) -> str:
    """The start of a session's id, in characters that are valid in a branch and a folder name."""
    return re.sub(r"[^A-Za-z0-9]", "", session_id)[:SHORT].lower() or "session"


def read_worktrees(output: bytes) -> list[WorktreeEntry]:
    """Read `git worktree list --porcelain -z`; bare ones have no files and are left out."""
    found = []
    for entry in output.split(b"\0\0"):
        lines = dict(_pairs(entry.split(b"\0")))
        if "worktree" in lines and "bare" not in lines:
            branch = lines.get("branch", "")
            found.append(
                WorktreeEntry(
                    path=lines["worktree"],
                    branch=branch.removeprefix(_BRANCHES) if branch.startswith(_BRANCHES) else None,
                )
            )
    return found


def _pairs(lines: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, _, value = line.decode(errors="surrogateescape").partition(" ")
        yield name, value


def read_changes(output: bytes) -> list[FileChange]:
    """Read `git diff --numstat -z --no-renames`, or its beginning."""
    found = []
    for line in output.split(b"\0")[:-1]:
        parts = line.decode(errors="replace").split("\t", 2)
        if len(parts) == 3:
            found.append(FileChange(path=parts[2], added=_count(parts[0]), removed=_count(parts[1])))
    return found


def _count(text: str) -> int | None:
    """A number of lines; git prints `-` for a file that is not text. `int` would raise on thousands of digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def read_names(output: bytes) -> list[str]:
    """Read names that each end with NUL; one that was cut off is left out."""
    return [name.decode(errors="replace") for name in output.split(b"\0")[:-1]]


def read_settings(output: bytes) -> dict[str, str]:
    """Read `git config --list -z`; the last value of each setting counts."""
    entries = (entry.decode(errors="surrogateescape").partition("\n") for entry in output.split(b"\0"))
    return {key: value for key, _, value in entries if key}


def section_names(settings: Iterable[str], section: str) -> list[str]:
    """The names of the subsections of a section: `x` for `merge.x.driver`."""
    found = dict.fromkeys(
        name
        for key in settings
        for head, _, rest in [key.partition(".")]
        if head == section and (name := rest.rpartition(".")[0])
    )
    return list(found)
