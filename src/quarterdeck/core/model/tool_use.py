"""One use of a tool, by one session, in one place: what a rule is matched against."""

from __future__ import annotations

import posixpath as paths
import re
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.tool_kinds import FOLDER_KINDS, ToolKind

MAX_PATH_LENGTH = 4096
"""No file has a longer path. No allow rule covers a longer one; every deny and ask rule does."""

MAX_SEARCH_LENGTH = 256
"""A longer search pattern counts as a path that no file has: to match it against every rule takes too long."""

_PATH_FIELDS = ("file_path", "notebook_path", "path")


class ToolUse(Struct, frozen=True, kw_only=True):
    """A tool call as rules see it. `tool_name` is its word in the rule language, `own_name` the agent's name for it
    where that is another one. `cwd`, `home` and `path` are real paths: links resolved, nothing to normalise.
    `path` is the file or folder that the tool is about, None when there is none or it could not be resolved.
    `case_folds` means that the file system ignores case, `in_hub` that the machine belongs to a hub;
    `quarterdeck_home` is Quarterdeck's own folder, `guarded` are the paths an agent must not change: that folder and
    the agent's settings."""

    tool_name: str
    tool_input: dict[str, Any]
    session_id: str
    cwd: str
    home: str
    kind: str = ""
    own_name: str = ""
    path: str | None = None
    case_folds: bool = False
    in_hub: bool = False
    quarterdeck_home: str = ""
    guarded: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The shell command, or empty."""
        command = self.tool_input.get("command")
        return command if isinstance(command, str) else ""

    @property
    def covers_folder(self) -> bool:
        """True when the tool reads everything in a folder."""
        return self.kind in FOLDER_KINDS


def written_paths(subject: ToolUse) -> list[str]:
    """Every path that the agent wrote, normalised by its text alone, without links. A tool has one; with several, it is
    not certain which one it takes."""
    tool_input = subject.tool_input
    written = [tool_input[field] for field in _PATH_FIELDS if field in tool_input]
    paths = [absolute_path(path, subject.cwd, subject.home) for path in written if isinstance(path, str) and path]
    return paths or ([subject.cwd] if subject.covers_folder else [])


def written_path(subject: ToolUse) -> str | None:
    """The first path that the agent wrote; None when it wrote none."""
    return next(iter(written_paths(subject)), None)


def glob_start(subject: ToolUse) -> str | None:
    """The folder where a search for names really starts when its pattern leaves its own folder; None when it stays."""
    if subject.kind not in _SEARCH_FIELDS:
        return None
    pattern = subject.tool_input.get(_SEARCH_FIELDS[subject.kind])
    if not isinstance(pattern, str):
        return None
    pieces = _PIECES.split(pattern) if subject.kind == ToolKind.SEARCH else [pattern]
    pattern = next((piece for piece in pieces if piece.startswith(("/", "~")) or ".." in piece.split("/")), None)
    if pattern is None:
        return None
    fixed = pattern.partition("*")[0].rpartition("/")[0] or "/"
    return absolute_path(fixed, written_path(subject) or subject.cwd, subject.home)


def searched_paths(subject: ToolUse) -> list[str]:
    """The files that a search names, as paths with wildcards: by their content with a `glob`, or by their names."""
    if subject.kind not in _SEARCH_FIELDS:
        return []
    pattern = subject.tool_input.get(_SEARCH_FIELDS[subject.kind])
    if not isinstance(pattern, str):
        return []
    if len(pattern) > MAX_SEARCH_LENGTH:
        return [pattern.ljust(MAX_PATH_LENGTH + 1)]
    start = written_path(subject) or subject.cwd
    patterns = pattern.split() if subject.kind == ToolKind.SEARCH else [pattern]  # several, split at blanks and commas
    names = [name for text in patterns for name in ([text] if "{" in text else text.split(","))]
    return [
        absolute_path(name if "/" in name.rstrip("/") else f"**/{name}", start, subject.home)
        for name in names
        if not name.startswith("!") and any(map(str.isalnum, name))
    ]


_PIECES = re.compile(r"[\s,{}!]+")
_SEARCH_FIELDS: dict[str, str] = {ToolKind.SEARCH: "glob", ToolKind.FIND: "pattern"}


def absolute_path(path: str, cwd: str, home: str) -> str:
    """The absolute path that a text names, with `~`, `.` and `..` resolved."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    normal = paths.normpath(paths.join(cwd, path))
    return normal[1:] if normal.startswith("//") else normal


def is_within(path: str, folder: str) -> bool:
    """True when the path is the folder or below it."""
    return path == folder or folder == "/" or path.startswith(folder.rstrip("/") + "/")
