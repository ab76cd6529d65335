"""The last output of a terminal, and the position from which it draws the screen. Standard library only."""

from __future__ import annotations

import mmap
import re

SIZE = 2 * 1024 * 1024
MAX_SEQUENCE = 64
"""The longest sequence that changes a mode or clears the screen."""

MODES_KEPT = 64
MARKS = re.compile(rb"\x1b(?:\[\?([\d;]{1,32})([hl])|\[([23])J|(c))")
ALTERNATE = frozenset({b"47", b"1047", b"1049"})
TEMPORARY = frozenset({b"2026"})
"""Synchronized output: on only while the program draws."""

UNTIL_PLAIN = re.compile(rb"\r?\n|\r")
RIGHT = re.compile(rb"\x1b\[\d*C")
ESCAPES = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\x00-\x08\x0b-\x1f\x7f]"
)


class ReplayBuffer:
    """A ring of bytes, addressed by their number since the start; those before `start` are gone. The terminal is read
    straight into it."""

    def __init__(self, size: int = SIZE) -> None:
        self.size, self._bytes = size, mmap.mmap(-1, size)
        self._view = memoryview(self._bytes)
        self.start = self.end = 0
        self.modes: dict[bytes, bool] = {}
        self._carry = b""
        self._cleared = {False: -1, True: -1}

    @property
    def alternate(self) -> bool:
        return any(self.modes.get(mode, False) for mode in ALTERNATE)

    def room(self, most: int) -> memoryview:
        """Where the next bytes go; `took` says how many came."""
        at = self.end % self.size
        return self._view[at : min(at + most, self.size)]

    def advance(self, count: int) -> None:
        at = self.end % self.size
        self.end += count
        self.start = max(self.start, self.end - self.size)
        if self._carry or self._bytes.find(b"\x1b", at, at + count) >= 0:
            self._mark(self._carry + self._bytes[at : at + count])

    def add(self, output: bytes) -> None:
        while output:
            room = self.room(len(output))
            room[:] = output[: len(room)]
            self.advance(len(room))
            output = output[len(room) :]

    def parts(self, at: int, most: int) -> list[memoryview]:
        """The bytes from this number on, in one piece or two."""
        count = min(self.end - at, most)
        first = at % self.size
        whole = self._view[first : first + count]
        return [whole] if len(whole) == count else [whole, self._view[: count - len(whole)]]

    def content(self, at: int, most: int = SIZE) -> bytes:
        return b"".join(self.parts(at, most))

    def screen_start(self) -> tuple[int, bool]:
        """The position from which the bytes draw the current screen, and True if they surely do, because the screen was
        empty there. Behind the alternate screen is the main one, so the position before both is used if it is still
        there."""
        for point in (self._cleared[False], self._cleared[self.alternate]):
            if point >= self.start:
                return point, True
        if not self.start:
            return 0, True
        line_end = UNTIL_PLAIN.search(self.content(self.start, 4096))
        return self.start + (line_end.end() if line_end else 0), False

    def prelude(self) -> bytes:
        """Sequences for an empty screen and the current modes: the bytes that set them may be gone."""
        modes = b"".join(b"\x1b[?%s%s" % (mode, b"h" if on else b"l") for mode, on in self.modes.items())
        return RESET + modes

    def last_words(self, most: int = 2000) -> str:
        """The end of the output as plain text."""
        text = ESCAPES.sub(b"", RIGHT.sub(b" ", self.content(max(self.start, self.end - 4 * most))))
        lines = text.decode(errors="replace").replace("\r", "\n").split("\n")
        return "\n".join(line.rstrip() for line in lines if line.strip())[-most:]

    def _mark(self, fresh: bytes) -> None:
        at = self.end - len(fresh)
        last = 0
        for found in MARKS.finditer(fresh):
            last = found.end()
            modes, on, clear, reset = found.groups()
            if modes is not None:
                self._set(modes.split(b";"), on == b"h", at + found.start())
            elif clear == b"2":
                self._cleared[self.alternate] = at + found.start()
            elif reset:
                self.modes.clear()
                self._cleared = {False: at + found.start(), True: -1}
        tail = fresh.rfind(b"\x1b", max(last, len(fresh) - MAX_SEQUENCE))
        self._carry = bytes(fresh[tail:]) if tail >= 0 and not ENDED.match(fresh, tail) else b""

    def _set(self, modes: list[bytes], on: bool, at: int) -> None:
        for mode in modes:
            if mode in ALTERNATE and on:
                self._cleared[True] = at
            if mode not in TEMPORARY and (mode in self.modes or len(self.modes) < MODES_KEPT):
                self.modes[mode] = on


ENDED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[^\[])")
"""A sequence that is complete, or not one of MARKS."""

RESET = (
    b"\x1b[!p\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[0m\x1b[H\x1b[2J\x1b[3J"
)
"""Not a full reset, which would clear the scrollback of the viewer's own terminal."""
