"""Opening files at paths that come from agents: only regular files below a folder, and no link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegular(OSError):
    """A folder, a pipe, a device or a socket."""


def read_regular(path: Path, most: int, *, follow: bool = False, own: bool = False) -> bytes | None:
    """The content of a regular file, with `own` of this user; None if it is none, too large or unreadable. It is
    checked after it is opened: what a path leads to may change in between."""
    flags = OPEN & ~os.O_NOFOLLOW if follow else OPEN
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
            found = os.fstat(file.fileno())
            is_wanted = stat.S_ISREG(found.st_mode) and (not own or found.st_uid == os.geteuid())
            return file.read(most) if is_wanted and found.st_size <= most else None
    except (OSError, ValueError):
        return None


@contextmanager
def open_below(root: str, parts: Sequence[str]) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file folder by folder, so that a link created meanwhile is not followed. Never blocks on a pipe."""
    descriptors = [_open(root, OPEN | os.O_DIRECTORY)]
    try:
        for part in parts[:-1]:
            descriptors.append(_open(part, OPEN | os.O_DIRECTORY, descriptors[-1]))
        descriptors.append(_open(parts[-1], OPEN, descriptors[-1]))
        found = os.fstat(descriptors[-1])
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular(0, "not a regular file")
        yield descriptors[-1], found
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _open(name: str, flags: int, folder: int | None = None) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except ValueError:  # a zero byte, or half a character
        raise FileNotFoundError(errno.ENOENT, "no file can have this name") from None
