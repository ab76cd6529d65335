"""The last look at what goes to the terminal: nothing in it acts there or hides, and without colours none is sent."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from quarterdeck.core.text.sanitize import UNSEEN

STANDS_FOR = "?"
NO_COLOURS = Style.from_color(RichColor.default(), RichColor.default())
REVERSED = Style(reverse=True)
APART = 12
"""By how much a ground must differ from that of its widget to mean something, like a cursor."""


class LastLook(LineFilter):
    """Widgets spell such characters out before; in what is being edited they are only replaced, cell by cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not UNSEEN.search("".join(segment.text for segment in segments)):
            return segments
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """The text without anything that acts or hides, as wide as it was."""
    return UNSEEN.sub(lambda found: STANDS_FOR * cell_len(found.group()), text)


class NoColours(LineFilter):
    """No colour at all. What stood on a ground of its own, like the row of a cursor, is reversed."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, style and _without_colours(style, background), control) for text, style, control in segments
        ]


@lru_cache(2048)
def _without_colours(style: Style, background: Color) -> Style:
    ground = style.bgcolor and Color.from_rich_color(style.bgcolor)
    is_apart = ground and max(abs(a - b) for a, b in zip(ground.rgb, background.rgb, strict=True)) > APART
    plain = style + NO_COLOURS
    return plain + REVERSED if is_apart and not style.reverse else plain
