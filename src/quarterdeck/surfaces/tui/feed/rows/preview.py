"""The preview below a row's line: a few lines of its text, and the size of the rest. Pure."""

from __future__ import annotations

from typing import NamedTuple

from quarterdeck.surfaces.terminal.styled_text import cells, chars_in
from quarterdeck.surfaces.tui.feed.render.cut_text import wrapped

SEPARATOR = "\x00"
"""Separates the parts of a packed preview: the one character that no visible text contains."""

LINES = 6
"""Lines of a text that are shown, including the line of the row."""

ASIDE_CELLS = 8
"""Cells at the right end of the first line that are left for a word like `needs you`."""


class RowPreview(NamedTuple):
    """The texts that a row keeps. `below`: its first line replaces an empty `line`. `size`: the size of the whole text,
    if it was cut."""

    line: str
    below: str = ""
    size: str = ""

    def packed(self) -> str:
        """The parts as one text."""
        return SEPARATOR.join(self).rstrip(SEPARATOR)


def unpacked(text: str) -> RowPreview:
    """The parts of a packed preview."""
    return RowPreview(*text.split(SEPARATOR, 2))


def preview_lines(text: RowPreview, room: int, aside: int) -> list[str]:
    """The preview in lines of `room` cells, the first one shorter by `aside`. The end of the last line tells the size
    of the rest."""
    parts = wrapped(text.below, room, LINES + 1, aside)
    more = f"… {text.size}" if text.size else "…" if len(parts) > LINES else ""
    parts = parts[:LINES]
    if more and parts:
        last, left = parts[-1], room - cells(more) - (aside if len(parts) == 1 else 0)
        parts[-1] = last[: chars_in(last, max(left, 0))].rstrip() + more
    return parts


def preview_height(text: str, room: int, aside: int) -> int:
    """The number of lines a preview adds to its row."""
    found = unpacked(text)
    return len(wrapped(found.below, room, LINES, aside)) - (0 if found.line else 1)
