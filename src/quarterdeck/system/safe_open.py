"""Opening files whose paths come from agents: only regular ones below a folder, and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegular(OSError):
    """A folder, a pipe, a device or a socket."""


@contextmanager
def opened_below(root: str, parts: Sequence[str]) -> Iterator[tuple[int, os.stat_result]]:
    """Open a file folder by folder, so that no link put there meanwhile is followed. Nothing hangs on a pipe."""
    descriptors = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        for part in parts[:-1]:
            descriptors.append(os.open(part, OPEN | os.O_DIRECTORY, dir_fd=descriptors[-1]))
        descriptors.append(os.open(parts[-1], OPEN, dir_fd=descriptors[-1]))
        found = os.fstat(descriptors[-1])
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular(0, "not a regular file")
        yield descriptors[-1], found
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
