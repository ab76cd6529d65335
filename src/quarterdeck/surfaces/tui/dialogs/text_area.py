"""A page that is typed into: its keys act in the order in which they come."""

from __future__ import annotations

from textual import events
from textual.widgets import TextArea

from quarterdeck.surfaces.tui.widgets.line_input import act_at_once


class Area(TextArea):
    """Several lines."""

    async def on_key(self, event: events.Key) -> None:
        await act_at_once(self, event)
