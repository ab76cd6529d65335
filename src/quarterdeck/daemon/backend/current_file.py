"""The present content of a file that an edit changes: only inside the project, regular, small, text, and unlikely to
hold secrets."""

from __future__ import annotations

import os
from pathlib import PurePath

from msgspec import Struct

from quarterdeck.core.model.state import Request
from quarterdeck.core.model.tool_kinds import EDIT_KINDS
from quarterdeck.core.risk.path_zones import inside, possible_secret_in, secret_in
from quarterdeck.core.text.file_diff import FileDiff, diff_against_file, diff_from_input, edited_path
from quarterdeck.system.safe_open import NotRegular, open_below

MAX_BYTES = 1024 * 1024
LONGEST_PATH = 4096


class UnreadableFile(Exception):
    """The reason why a file is not read."""


class CurrentFile(Struct, frozen=True):
    """The content of a file, None when there is no file, and the time of its last change."""

    text: str | None
    written_at: float = 0.0


def current_change(request: Request, cwd: str) -> FileDiff | None:
    """The change that a request would make to its file; None for a tool that edits no file. Decided requests, and files
    that may not be read, are shown from the tool input alone."""
    if request.tool_kind not in EDIT_KINDS:
        return None
    if request.status != "pending":
        return diff_from_input(request.tool_kind, request.tool_input, ("as requested; the file was not read",))
    try:
        now = read_current_file(edited_path(request.tool_input), cwd)
    except UnreadableFile as why:
        return diff_from_input(request.tool_kind, request.tool_input, (str(why),))
    notes = ("the file was written after this request",) if now.written_at > request.opened_at else ()
    return diff_against_file(request.tool_kind, request.tool_input, now.text, notes)


def real_file(path: str, cwd: str) -> str | None:
    """The real path of a tool's file; None when its input names none."""
    if not path or len(path) > LONGEST_PATH or "\0" in path:
        return None
    return os.path.realpath(os.path.join(cwd or "/", path))  # noqa: PTH118 - the path of another process


def read_current_file(path: str, cwd: str) -> CurrentFile:
    """Read the whole file of a project."""
    real = real_file(path, cwd)
    root = os.path.realpath(cwd) if cwd.startswith("/") else "/"
    if real is None:
        raise UnreadableFile("names no file")
    if root == "/" or not inside(real, root) or real == root:
        raise UnreadableFile("the file is outside the project and is not read")
    if secret_in(real) or possible_secret_in(real):
        raise UnreadableFile("the file may hold secrets and is not read")
    try:
        with open_below(root, PurePath(real).relative_to(root).parts) as (descriptor, found):
            if found.st_size > MAX_BYTES:
                raise UnreadableFile(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB and is not compared")
            return CurrentFile(_text(descriptor), found.st_mtime)
    except NotRegular:
        raise UnreadableFile("the path is not a regular file") from None
    except FileNotFoundError:
        return CurrentFile(None)
    except OSError as error:
        raise UnreadableFile(f"the file cannot be read ({error.strerror})") from None


def _text(descriptor: int) -> str:
    content = b""
    while len(content) <= MAX_BYTES and (more := os.read(descriptor, MAX_BYTES)):
        content += more
    if len(content) > MAX_BYTES:
        raise UnreadableFile("the file grows while it is read and is not compared")
    if b"\0" in content:
        raise UnreadableFile("the file is binary")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UnreadableFile("the file is not UTF-8 text") from None
