"""The text on a terminal's screen, from what it was sent."""

from __future__ import annotations

import re

import pyte

SCREEN_BYTES = 256 * 1024
"""Of more only the end is looked at: a terminal in Python is slow, and a program draws its screen again and again."""

UNKNOWN = re.compile(rb"\x1b(?:\[[<>=][0-?]*[ -/]*[@-~]|\[[0-?]*[ -/]+[@-~]|[P^_X][^\x1b]*\x1b\\)")
"""What the terminal below would take for text."""


def text_on(shown: bytes, cols: int, rows: int) -> str:
    """The lines of the screen without the blanks at their ends, and without empty lines at the end."""
    screen = pyte.Screen(max(1, cols), max(1, rows))
    pyte.ByteStream(screen).feed(UNKNOWN.sub(b"", shown))
    return "\n".join(line.rstrip() for line in screen.display).rstrip("\n")
