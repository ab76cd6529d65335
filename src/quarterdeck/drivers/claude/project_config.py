"""The files of a project that an agent would obey, read and never run; no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from quarterdeck.agents.claude.project_config import FILES, read_project
from quarterdeck.core.workspace.project_config import Brings

MAX_FILE = 1024 * 1024
LINKS = (errno.ELOOP, errno.EMLINK, errno.ENOTDIR)


def brought_by(folder: str) -> Brings:
    """What a project brings. What is there and was not read is among its troubles."""
    files: dict[str, bytes] = {}
    troubles: list[str] = []
    for name in FILES:
        found = _content(folder, name)
        if isinstance(found, bytes):
            files[name] = found
        elif found:
            troubles.append(f"{name}: {found}; look at it")
    return read_project(files, troubles)


def _content(folder: str, name: str) -> bytes | str:
    """What a file holds, or why it was not read; nothing for a file that is not there."""
    above, _, last = name.rpartition("/")
    try:
        with _folder(folder, above) as at, _file(last, at) as descriptor:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return "is no regular file"
            if found.st_size > MAX_FILE:
                return f"is over {MAX_FILE // 2**20} MiB"
            return _all(descriptor)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return "is reached through a link" if error.errno in LINKS else f"cannot be read ({error.strerror})"


def _all(descriptor: int) -> bytes | str:
    content = b""
    while len(content) <= MAX_FILE and (more := os.read(descriptor, MAX_FILE)):
        content += more
    return content if len(content) <= MAX_FILE else f"is over {MAX_FILE // 2**20} MiB"


@contextmanager
def _folder(folder: str, inside: str) -> Iterator[int]:
    """A folder, or one right below it that is no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    at = os.open(folder, flags)
    try:
        if inside:
            below = os.open(inside, flags, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


@contextmanager
def _file(name: str, at: int) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
