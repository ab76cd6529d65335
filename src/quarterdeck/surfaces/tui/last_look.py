"""The last look at what goes to the terminal: whatever shows it, nothing in it acts on a terminal or hides there."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from quarterdeck.core.text import UNSEEN

STANDS_FOR = "?"


class LastLook(LineFilter):
    """Widgets spell such characters out before; in what is being edited they are only replaced, cell by cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not UNSEEN.search("".join(segment.text for segment in segments)):
            return segments
        return [Segment(harmless(text), style, control) for text, style, control in segments]


def harmless(text: str) -> str:
    """The text without anything that acts or hides, as wide as it was."""
    return UNSEEN.sub(lambda found: STANDS_FOR * cell_len(found.group()), text)
