"""How a row goes on below its line: a few lines of what it is about, and how much there is of it. Pure."""

from __future__ import annotations

from typing import NamedTuple

from quarterdeck.surfaces.tui.feed.render.styled_pieces import cells, taken, wrapped

SEPARATOR = "\x00"
"""Between the parts of what a row keeps: the one character that no visible text holds."""

LINES = 6
"""Lines of a text that are shown, the one of its row included."""

ASIDE_CELLS = 8
"""Cells at the right end of the first line that are left to what stands there, like `needs you`."""


class Kept(NamedTuple):
    """What a row keeps: its line; what goes on below, which takes the place of an empty line; and how much there is of
    it all, where more was left out."""

    line: str
    below: str = ""
    size: str = ""

    def packed(self) -> str:
        """As one text."""
        return SEPARATOR.join(self).rstrip(SEPARATOR)


def kept(text: str) -> Kept:
    """What was packed."""
    return Kept(*text.split(SEPARATOR, 2))


def preview_lines(text: Kept, room: int, aside: int) -> list[str]:
    """The lines that show it in so many cells, fewer in the first; what is left out is said at the end of the last."""
    parts = wrapped(text.below, room, LINES + 1, aside)
    more = f"… {text.size}" if text.size else "…" if len(parts) > LINES else ""
    parts = parts[:LINES]
    if more and parts:
        last, left = parts[-1], room - cells(more) - (aside if len(parts) == 1 else 0)
        parts[-1] = last[: taken(last, max(left, 0))].rstrip() + more
    return parts


def preview_height(text: str, room: int, aside: int) -> int:
    """How many lines it adds to its row."""
    found = kept(text)
    return len(wrapped(found.below, room, LINES, aside)) - (0 if found.line else 1)
