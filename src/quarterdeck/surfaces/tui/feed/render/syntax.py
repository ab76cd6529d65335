"""Code with line numbers, in the colours of its language."""

from __future__ import annotations

from collections.abc import Iterator

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line
from quarterdeck.views.code_colours import LINES, coloured


def code_lines(text: str, ending: str, first: int = 1) -> Iterator[Line]:
    """Code with line numbers, lazily."""
    start, number = 0, first
    while start < len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        yield [(f"{number:>5} ", "lineno"), *coloured(text[start:stop], ending if number - first < LINES else "")]
        start, number = stop + 1, number + 1
