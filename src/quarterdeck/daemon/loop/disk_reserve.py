"""Free space of the disk under the home: when it is nearly full, agents are released and a reserve keeps decisions on
record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog
from msgspec import Struct

# Asked for every hook call, and a system call each time would cost more than the answer is worth.
CHECK_SECONDS = 1.0
# Room for thousands of decisions while nothing else is recorded.
RESERVE = 8 * 1024 * 1024
# Recording stops well before the disk is full, and goes on at twice as much room, so that it does not flap.
NEARLY_FULL = 16 * 1024 * 1024

logger = structlog.get_logger("disk")


class DiskSpace(Struct, frozen=True):
    """Bytes of a file system: all of them, and those this user may still write."""

    total: int
    free: int


def space_at(path: Path) -> DiskSpace:
    """The space of the file system that holds this path."""
    status = os.statvfs(path)
    return DiskSpace(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)


class DiskReserve:
    """Checks the free space at most once a second. A small disk has a small reserve."""

    def __init__(
        self,
        home: Path,
        space: Callable[[Path], DiskSpace] = space_at,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._reserve = home / "reserve"
        self._space = space
        self._clock = clock
        self._full = False
        self._next_check = float("-inf")

    @property
    def nearly_full(self) -> bool:
        """True if only decisions and the ends of waits are recorded."""
        if self._clock() >= self._next_check:
            self.check()
        return self._full

    def check(self) -> None:
        """Read how much is free besides the reserve, and make the reserve when there is room for it."""
        self._next_check = self._clock() + CHECK_SECONDS
        try:
            space = self._space(self._home)
            is_kept = self._reserve.exists()
        except OSError as error:
            logger.warning("the free disk space cannot be read", error=str(error))
            return
        low, reserve = min(NEARLY_FULL, space.total // 32), min(RESERVE, space.total // 16)
        free = space.free - (0 if is_kept else reserve)
        was_full, self._full = self._full, free < (2 * low if self._full else low)
        if self._full and not was_full:
            logger.error("the disk is nearly full: hook calls are neither held nor recorded", free=space.free)
        elif was_full and not self._full:
            logger.info("the disk has room again", free=space.free)
        if not self._full and not is_kept:
            self._make(reserve)

    def free_reserve(self) -> bool:
        """Delete the reserve to make room for inputs that must be recorded. False when there is none."""
        self._next_check = float("-inf")
        try:
            self._reserve.unlink()
        except OSError:
            return False
        logger.warning("the disk reserve is in use")
        return True

    def _make(self, size: int) -> None:
        try:
            descriptor = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            logger.warning("the disk reserve could not be made", error=str(error))
            return
        try:
            _allocate(descriptor, size)
        except OSError as error:
            logger.warning("the disk reserve could not be made", error=str(error))
            with suppress(OSError):
                self._reserve.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    block = bytes(1024 * 1024)
    while size > 0:
        size -= os.write(descriptor, block[:size])
