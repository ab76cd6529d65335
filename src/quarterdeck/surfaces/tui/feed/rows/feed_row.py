"""One row of the feed as it is drawn, and its events. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from quarterdeck.surfaces.tui.feed.rows.subagents import SubagentGroup
from quarterdeck.surfaces.tui.feed.rows.summary import ALLOWED, BELOW_SHIFT, DENIED, DONE, FAILED, WAITS


class RowPart(NamedTuple):
    """An event of a row; sorted by its place in the log."""

    seq_no: int
    kind: str
    flags: int
    level: int
    at: float = 0.0
    text: str = ""
    took: float = -1.0
    badge: str = ""


def row_state(parts: Iterable[RowPart]) -> tuple[int, int]:
    """The state of a row, and its lines of an error. An outcome counts most, then the last request or decision: a call
    that was denied and ran after all has run."""
    latest = ended = below = 0
    for part in parts:
        if part.flags & (DONE | FAILED):
            ended = part.flags & (DONE | FAILED)
            below = part.flags >> BELOW_SHIFT
        elif part.flags & (WAITS | DENIED | ALLOWED):
            latest = part.flags & (WAITS | DENIED)
    return ended or latest, below


class FeedRow(NamedTuple):
    """A row as it is drawn. `parts`: its events in the order of the log. `over`: its run has ended, so nothing in it
    can still be running. `stored`: the feed shows every event as it is stored."""

    seq_no: int
    at: float
    kind: str
    level: int
    flags: int
    state: int
    tool: str
    tool_kind: str
    actor: str
    session: str
    badge: str
    text: str
    run: int
    parts: tuple[RowPart, ...]
    over: bool
    cwd: str
    stored: bool
    group: SubagentGroup | None

    def last(self, *kinds: str) -> RowPart | None:
        """The last event of these kinds."""
        return next((part for part in reversed(self.parts) if part.kind in kinds), None)
