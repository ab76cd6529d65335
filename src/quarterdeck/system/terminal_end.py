"""The end of a program on a terminal: on SIGHUP and SIGTERM, and once its terminal is gone, whatever it is doing."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

ENDINGS = (signal.SIGHUP, signal.SIGTERM)
GRACE_SECONDS = 2.0
"""How long a program may take to end by itself: more than the terminal UI needs on a busy machine, less than a person
waits before `kill -9`."""
LOOK_SECONDS = 0.5
"""How often the terminal is looked at. A program outside the terminal's foreground, or in another session, gets no
SIGHUP when the terminal closes, and reads an endless end of file."""
RESTORE = "\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?25h\x1b[0m\r\n"
"""Undoes every terminal mode that a program may have set."""

_foreground: set[Callable[[int], object]] = set()


def accept_endings() -> None:
    """Let SIGHUP and SIGTERM end this process, even if the program that started it ignores or blocks them."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


@contextlib.contextmanager
def ends_with_terminal(close: Callable[[int], object]) -> Iterator[None]:
    """While open, SIGHUP, SIGTERM and the loss of the terminal end this process, with exit code 128 + the signal.

    `close` gets the exit code, and must make the caller leave soon; it runs in the main thread, between any two steps.
    If the caller has not left after GRACE_SECONDS, the terminal is restored and the process ends. That is more than an
    exception could do: a terminal UI may be waiting to draw on a terminal that is gone."""
    guard = _Guard(close)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    before = {number: signal.signal(number, guard.end) for number in ENDINGS}
    watch = threading.Thread(target=guard.watch, name="terminal-end", daemon=True)
    watch.start()
    try:
        yield
    finally:
        guard.has_left.set()
        for number, handler in before.items():
            signal.signal(number, handler)
        if guard.code:
            guard.restore_terminal()


class _Guard:
    """Ends this process when it must end."""

    def __init__(self, close: Callable[[int], object]) -> None:
        self._close = close
        self._terminals = [number for number in (0, 1) if os.isatty(number)]
        self._attributes = _attributes(0)
        self.code = 0
        self.has_left = threading.Event()

    def end(self, number: int, frame: FrameType | None) -> None:
        """End the process, and what has its terminal, once."""
        if self.code:
            return
        self.code = 128 + number
        threading.Thread(target=self._enforce, name="terminal-end-now", daemon=True).start()
        for end in tuple(_foreground):
            with contextlib.suppress(OSError):
                end(number)
        self._close(self.code)

    def watch(self) -> None:
        """Hang up once the terminal is gone."""
        while not self.has_left.wait(LOOK_SECONDS):
            if not all(map(os.isatty, self._terminals)):
                os.kill(os.getpid(), signal.SIGHUP)
                return

    def _enforce(self) -> None:
        if not self.has_left.wait(GRACE_SECONDS):
            self.restore_terminal()
            os._exit(self.code)

    def restore_terminal(self) -> None:
        """Restore the terminal as it was, unless it is gone or accepts nothing."""
        with contextlib.suppress(OSError, termios.error):
            if self._attributes is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)
            if 1 in self._terminals and select.select([], [1], [], 0)[1]:
                os.write(1, RESTORE.encode())


def _attributes(number: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(number)
    except termios.error:
        return None


def run_in_foreground(words: Sequence[str], env: Mapping[str, str] | None = None) -> int:
    """Run a program that has the terminal until it ends, and return its exit code. A signal that ends this process ends
    it too: it would otherwise stay on the terminal beside the shell."""
    with subprocess.Popen(words, env=env) as program:  # noqa: S603 a list of words that no shell reads
        _foreground.add(program.send_signal)
        try:
            return program.wait()
        finally:
            _foreground.discard(program.send_signal)
