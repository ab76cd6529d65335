"""What a rule is asked about: one use of a tool, by one session, in one place."""

from __future__ import annotations

import posixpath as paths
from typing import Any

from msgspec import Struct

LONGEST_PATH = 4096
"""Longer paths no file has; no allow rule covers them, every deny and ask rule does."""

LONGEST_SOUGHT = 256
"""A longer text of names to search for counts as a path that no file has."""

_PATH_FIELDS = ("file_path", "notebook_path", "path")
_IN_FOLDERS = frozenset({"Grep", "Glob", "LS"})


class Subject(Struct, frozen=True, kw_only=True):
    """`cwd`, `home` and `path` are real paths: links resolved, nothing to normalise. `path` is the file or folder that
    the tool is about, None when it is about none or could not be resolved. `case_folds` tells a file system that
    ignores case; `our_home` is Quarterdeck's own folder, `guarded` what connects an agent to it, wherever that is."""

    tool_name: str
    tool_input: dict[str, Any]
    session_id: str
    cwd: str
    home: str
    path: str | None = None
    case_folds: bool = False
    our_home: str = ""
    guarded: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What a shell is asked to run."""
        command = self.tool_input.get("command")
        return command if isinstance(command, str) else ""

    @property
    def looks_in_folders(self) -> bool:
        """Whether the tool is about all that a folder holds."""
        return self.tool_name in _IN_FOLDERS


def written_path(subject: Subject) -> str | None:
    """The path as the agent wrote it, normalised by its text alone; None when it wrote none."""
    tool_input = subject.tool_input
    for field in _PATH_FIELDS:
        if field in tool_input and isinstance(written := tool_input[field], str) and written:
            return from_there(written, subject.cwd, subject.home)
    return subject.cwd if subject.looks_in_folders else None


def searched_path(subject: Subject) -> str | None:
    """Where a Glob really starts when its pattern leaves the folder it was given; None when it stays."""
    if subject.tool_name != "Glob":
        return None
    pattern = subject.tool_input.get("pattern")
    if not isinstance(pattern, str):
        return None
    if not (pattern.startswith(("/", "~")) or ".." in pattern.split("/")):
        return None
    fixed = pattern.partition("*")[0].rpartition("/")[0] or "/"
    return from_there(fixed, written_path(subject) or subject.cwd, subject.home)


def sought_paths(subject: Subject) -> list[str]:
    """The files that a search names, as paths with wildcards in them: a Grep by its `glob`, a Glob by its pattern."""
    if subject.tool_name not in _SOUGHT:
        return []
    sought = subject.tool_input.get(_SOUGHT[subject.tool_name])
    if not isinstance(sought, str):
        return []
    if len(sought) > LONGEST_SOUGHT:
        return [sought.ljust(LONGEST_PATH + 1)]
    start = written_path(subject) or subject.cwd
    several = sought.split() if subject.tool_name == "Grep" else [sought]  # it takes several, by blanks and commas
    names = [name for one in several for name in ([one] if "{" in one else one.split(","))]
    return [
        from_there(name if "/" in name.rstrip("/") else f"**/{name}", start, subject.home)
        for name in names
        if not name.startswith("!") and any(map(str.isalnum, name))
    ]


_SOUGHT = {"Grep": "glob", "Glob": "pattern"}


def from_there(path: str, cwd: str, home: str) -> str:
    """The absolute path that a text names, with `~`, `.` and `..` worked in."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    normal = paths.normpath(paths.join(cwd, path))
    return normal[1:] if normal.startswith("//") else normal


def is_within(path: str, folder: str) -> bool:
    """Whether the path is the folder or below it."""
    return path == folder or folder == "/" or path.startswith(folder.rstrip("/") + "/")
