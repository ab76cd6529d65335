"""The file of an edit as it is now: only of the project, regular, small, text, and not where secrets are."""

from __future__ import annotations

import os
from pathlib import PurePath

from msgspec import Struct

from quarterdeck.core.model.state import Request
from quarterdeck.core.risk.paths import inside, perhaps_secret_in, secret_in
from quarterdeck.core.text.file_diff import EDITS, Change, change_as_asked, change_of, path_in
from quarterdeck.system.safe_open import NotRegular, opened_below

MOST_BYTES = 1024 * 1024
LONGEST_PATH = 4096


class Unread(Exception):
    """Why a file is not looked into."""


class FileNow(Struct, frozen=True):
    """What is in a file, None when there is none, and when it was last written."""

    text: str | None
    written_at: float = 0.0


def change_now(request: Request, cwd: str) -> Change | None:
    """What a request would do to its file; None for a tool that edits none. What is decided, and what may not be read,
    is shown by its own words."""
    if request.tool_name not in EDITS:
        return None
    if request.status != "pending":
        return change_as_asked(request.tool_name, request.tool_input, ("as it was asked; the file is not looked into",))
    try:
        now = file_now(path_in(request.tool_input), cwd)
    except Unread as why:
        return change_as_asked(request.tool_name, request.tool_input, (str(why),))
    notes = ("the file was written after this was asked",) if now.written_at > request.opened_at else ()
    return change_of(request.tool_name, request.tool_input, now.text, notes)


def real_file(path: str, cwd: str) -> str | None:
    """Where the file of a tool really is, links resolved; None when its words lead nowhere."""
    if not path or len(path) > LONGEST_PATH or "\0" in path:
        return None
    return os.path.realpath(os.path.join(cwd or "/", path))  # noqa: PTH118 - the path of another process


def file_now(path: str, cwd: str) -> FileNow:
    """The file of a project, whole."""
    real = real_file(path, cwd)
    root = os.path.realpath(cwd) if cwd.startswith("/") else "/"
    if real is None:
        raise Unread("names no file")
    if root == "/" or not inside(real, root) or real == root:
        raise Unread("the file is outside the project and is not looked into")
    if secret_in(real) or perhaps_secret_in(real):
        raise Unread("the file may hold secrets and is not looked into")
    try:
        with opened_below(root, PurePath(real).relative_to(root).parts) as (descriptor, found):
            if found.st_size > MOST_BYTES:
                raise Unread(f"the file is larger than {MOST_BYTES // 1024 // 1024} MiB and is not compared")
            return FileNow(_text(descriptor), found.st_mtime)
    except NotRegular:
        raise Unread("the path is no regular file") from None
    except FileNotFoundError:
        return FileNow(None)
    except OSError as error:
        raise Unread(f"the file cannot be read ({error.strerror})") from None


def _text(descriptor: int) -> str:
    content = b""
    while len(content) <= MOST_BYTES and (more := os.read(descriptor, MOST_BYTES)):
        content += more
    if len(content) > MOST_BYTES:
        raise Unread("the file grows while it is read and is not compared")
    if b"\0" in content:
        raise Unread("the file is binary")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Unread("the file is not UTF-8 text") from None
