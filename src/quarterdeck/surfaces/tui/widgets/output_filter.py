"""Final output filter: removes control and hidden characters, and colours under NO_COLOR."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from quarterdeck.core.text.sanitize import UNSEEN

REPLACEMENT = "?"
NO_COLOURS = Style.from_color(RichColor.default(), RichColor.default())
REVERSED = Style(reverse=True)
DISTINCT_BY = 12
"""How much a background must differ from its widget's, per colour channel, to mean something, like a cursor."""


class OutputFilter(LineFilter):
    """Replaces control and hidden characters, cell by cell. Text to read was already spelled out by its widget; this
    covers text being edited, and mistakes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not UNSEEN.search("".join(segment.text for segment in segments)):
            return segments
        return [Segment(replace_hidden(text), style, control) for text, style, control in segments]


def replace_hidden(text: str) -> str:
    """The text without control and hidden characters, in the same width."""
    return UNSEEN.sub(lambda match: REPLACEMENT * cell_len(match.group()), text)


class NoColours(LineFilter):
    """Removes all colours. Text on a background of its own, like the row of a cursor, is reversed instead."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, style and _without_colours(style, background), control) for text, style, control in segments
        ]


@lru_cache(2048)  # runs for every segment of every frame, over few distinct styles
def _without_colours(style: Style, background: Color) -> Style:
    own = style.bgcolor and Color.from_rich_color(style.bgcolor)
    is_distinct = own and max(abs(a - b) for a, b in zip(own.rgb, background.rgb, strict=True)) > DISTINCT_BY
    plain = style + NO_COLOURS
    return plain + REVERSED if is_distinct and not style.reverse else plain
