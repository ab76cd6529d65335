"""Decisions that were made, as lines below the card; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.lines.waiting_elsewhere_lines import waiting_elsewhere_lines
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import StyledLine, line
from quarterdeck.surfaces.text.labels import about_decided, delivery, outcome

RECENT_DECISIONS = 3


def decided_line(view: dict[str, Any]) -> StyledLine:
    """A decision, what it was about, and whether the agent did as decided."""
    delivered = delivery(view)
    style = "blocked" if delivered.startswith("overridden") else "dim"
    return line((f"{outcome(view)} · {about_decided(view)}", "dim"), (f" · {delivered}" if delivered else "", style))


def empty_desk_lines(model: Model) -> Iterator[StyledLine]:
    """A desk without a card: the sessions that wait at their own terminals, and the latest decisions."""
    if standing := model.waiting_elsewhere:
        yield from waiting_elsewhere_lines(standing, model.names)
    else:
        yield line(("No requests are waiting.", "dim"))
    yield from map(decided_line, list(model.decided)[-RECENT_DECISIONS:])
