"""The pace of a played feed, and the keys that pause and end it."""

from __future__ import annotations

import math
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from quarterdeck.errors import Misused

LONGEST_GAP = 5.0
"""Seconds between two events, before the speed is applied: a night in which nothing happened is not waited for."""
PAUSE, END = b" ", (b"q", b"\x04", b"")
PAUSED = "Paused: space goes on, q ends.\n"

Press = Callable[[float | None], bytes | None]
"""Waits for a key for these seconds, or for as long as it takes; None when no key was pressed."""


def read_speed(text: str) -> float:
    """A factor; infinite for `0` and `max`."""
    try:
        speed = math.inf if text == "max" else float(text)
    except ValueError:
        speed = math.nan
    if not speed >= 0:
        raise Misused(f"--speed: must be a factor like 10, or max (0) for all at once, is {text!r}")
    return speed or math.inf


class Pace:
    """The time that passes before each event."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._last: float | None = None

    def seconds_before(self, at: float) -> float:
        """The seconds to wait before the event that was recorded then."""
        gap = 0.0 if self._last is None else at - self._last
        self._last = at
        return min(max(gap, 0.0), LONGEST_GAP) / self._speed


class Playback:
    """Waits between events. A pressed space pauses, another goes on."""

    def __init__(self, press: Press, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._press, self._say, self._clock = press, say, clock

    def wait(self, seconds: float) -> bool:
        """Wait; False when the person ends it."""
        end = self._clock() + seconds
        while (key := self._press(max(end - self._clock(), 0.0))) is not None:
            if key == PAUSE:
                left = end - self._clock()
                self._say(PAUSED)
                while (key := self._press(None)) != PAUSE and key not in END:
                    pass
                end = self._clock() + left
            if key in END:
                return False
        return True


def no_keys(seconds: float | None) -> None:
    """Wait where nobody can press a key; Ctrl-Z and Ctrl-C work there too."""
    time.sleep(seconds or 0.0)


@contextmanager
def keys(*, is_stdin_taken: bool) -> Iterator[Press | None]:
    """The keys of the terminal that the feed is printed on; None where there is none to read from."""
    descriptor = _keyboard(is_stdin_taken)
    if descriptor is None:
        yield None
        return
    before = termios.tcgetattr(descriptor)

    def press(seconds: float | None) -> bytes | None:
        ready, _, _ = select.select([descriptor], [], [], seconds)
        return os.read(descriptor, 1) if ready else None

    try:
        tty.setcbreak(descriptor)
        yield press
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        os.close(descriptor)


def _keyboard(is_stdin_taken: bool) -> int | None:
    """A terminal to read keys from, if this process is in front of it."""
    if not sys.stdout.isatty() or not (is_stdin_taken or sys.stdin.isatty()):
        return None
    with suppress(OSError):
        descriptor = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        if os.tcgetpgrp(descriptor) == os.getpgrp():
            return descriptor
        os.close(descriptor)
    return None
