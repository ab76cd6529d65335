"""What git prints of worktrees, their changes and its settings, read into words; and how ours are named."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

PREFIX = "quarterdeck/"
SHORT = 8
MAX_NAME = 40
_BRANCHES = "refs/heads/"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


class Listed(Struct, frozen=True, kw_only=True):
    """One worktree of a repository; without a branch its head is detached."""

    path: str
    branch: str | None = None


class FileChange(Struct, frozen=True, kw_only=True):
    """How many lines of a file came and went; None where it is not text."""

    path: str
    added: int | None
    removed: int | None


def branch_of(session_id: str) -> str:
    """The branch that a session works on."""
    return f"{PREFIX}{_short(session_id)}"


def folder_name(project: str, session_id: str) -> str:
    """The folder of a session's worktree, by which a person knows it."""
    name = _ODD.sub("_", project.rstrip("/").rpartition("/")[2]).strip("._-")[:MAX_NAME]
    return f"{name or 'project'}-{_short(session_id)}"


def _short(session_id: str) -> str:
    """As much of an id as tells sessions apart, in letters that a branch and a folder may have."""
    return re.sub(r"[^A-Za-z0-9]", "", session_id)[:SHORT].lower() or "session"


def read_worktrees(output: bytes) -> list[Listed]:
    """`git worktree list --porcelain -z`; bare ones have no files and are left out."""
    found = []
    for entry in output.split(b"\0\0"):
        lines = dict(_halves(entry.split(b"\0")))
        if "worktree" in lines and "bare" not in lines:
            branch = lines.get("branch", "")
            found.append(
                Listed(
                    path=lines["worktree"],
                    branch=branch.removeprefix(_BRANCHES) if branch.startswith(_BRANCHES) else None,
                )
            )
    return found


def _halves(lines: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, _, value = line.decode(errors="surrogateescape").partition(" ")
        yield name, value


def read_changes(output: bytes) -> list[FileChange]:
    """`git diff --numstat -z --no-renames`, or its beginning."""
    found = []
    for line in output.split(b"\0")[:-1]:
        parts = line.decode(errors="replace").split("\t", 2)
        if len(parts) == 3:
            found.append(FileChange(path=parts[2], added=_count(parts[0]), removed=_count(parts[1])))
    return found


def _count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def read_names(output: bytes) -> list[str]:
    """Names that end with NUL each; one that was cut off is left out."""
    return [name.decode(errors="replace") for name in output.split(b"\0")[:-1]]


def read_settings(output: bytes) -> dict[str, str]:
    """`git config --list -z`: the last word about each setting counts."""
    entries = (entry.decode(errors="surrogateescape").partition("\n") for entry in output.split(b"\0"))
    return {key: value for key, _, value in entries if key}


def named(settings: Iterable[str], section: str) -> list[str]:
    """The names that a section of settings is kept under: `x` for `merge.x.driver`."""
    found = dict.fromkeys(
        name
        for key in settings
        for head, _, rest in [key.partition(".")]
        if head == section and (name := rest.rpartition(".")[0])
    )
    return list(found)
