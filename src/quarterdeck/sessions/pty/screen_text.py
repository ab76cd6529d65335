"""The text on a terminal's screen, from the bytes that it was sent."""

from __future__ import annotations

import re

import pyte

SCREEN_BYTES = 256 * 1024
"""Only the end of longer output is used: a terminal in Python is slow, and programs redraw their screen often."""

UNKNOWN = re.compile(rb"\x1b(?:\[[<>=][0-?]*[ -/]*[@-~]|\[[0-?]*[ -/]+[@-~]|[P^_X][^\x1b]*\x1b\\)")
"""Sequences that pyte would take for text."""


def screen_text(shown: bytes, cols: int, rows: int) -> str:
    """The lines of the screen without the blanks at their ends, and without empty lines at the end."""
    screen = pyte.Screen(max(1, cols), max(1, rows))
    pyte.ByteStream(screen).feed(UNKNOWN.sub(b"", shown))
    return "\n".join(line.rstrip() for line in screen.display).rstrip("\n")
