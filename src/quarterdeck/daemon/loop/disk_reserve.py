"""The disk under the home: when it is nearly full agents are let go first, and a reserve keeps decisions on record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog
from msgspec import Struct

LOOK_SECONDS = 1.0
RESERVE = 8 * 1024 * 1024
NEARLY_FULL = 16 * 1024 * 1024

logger = structlog.get_logger("disk")


class Space(Struct, frozen=True):
    """Bytes of a file system: all, and those we may still write."""

    total: int
    free: int


def space_at(path: Path) -> Space:
    """The file system under this path."""
    found = os.statvfs(path)
    return Space(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


class Disk:
    """Looks at most once a second. Small disks have a small reserve."""

    def __init__(
        self,
        home: Path,
        space: Callable[[Path], Space] = space_at,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._reserve = home / "reserve"
        self._space = space
        self._clock = clock
        self._full = False
        self._next_look = float("-inf")

    @property
    def nearly_full(self) -> bool:
        """Whether only decisions and what ends a wait are recorded."""
        if self._clock() >= self._next_look:
            self.look()
        return self._full

    def look(self) -> None:
        """See how much is free beside the reserve; make the reserve when there is room for it."""
        self._next_look = self._clock() + LOOK_SECONDS
        try:
            space = self._space(self._home)
            is_kept = self._reserve.exists()
        except OSError as error:
            logger.warning("the disk cannot be seen", error=str(error))
            return
        low, reserve = min(NEARLY_FULL, space.total // 32), min(RESERVE, space.total // 16)
        free = space.free - (0 if is_kept else reserve)
        was_full, self._full = self._full, free < (2 * low if self._full else low)
        if self._full and not was_full:
            logger.error("the disk is nearly full: agents are not held and not recorded", free=space.free)
        elif was_full and not self._full:
            logger.info("the disk has room again", free=space.free)
        if not self._full and not is_kept:
            self._make(reserve)

    def give_way(self) -> bool:
        """Give the reserve back to the disk, for what must be recorded; whether there was one."""
        self._next_look = float("-inf")
        try:
            self._reserve.unlink()
        except OSError:
            return False
        logger.warning("the reserve is used")
        return True

    def _make(self, size: int) -> None:
        try:
            descriptor = os.open(self._reserve, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            logger.warning("no reserve", error=str(error))
            return
        try:
            _allocate(descriptor, size)
        except OSError as error:
            logger.warning("no reserve", error=str(error))
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
