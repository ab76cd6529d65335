"""The dialog for the message that goes with a decision."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Input

from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.widgets.inputs import LineInput

LIMIT = 20_000


class MessageDialog(DecisionDialog[str]):
    """Ends with the message, which may be empty."""

    refuses = True

    def __init__(self, item: RequestItem, title: str, hint: str) -> None:
        super().__init__(item)
        self.heading = title
        self._hint = hint

    def compose_box(self) -> ComposeResult:
        yield self.summary()
        yield LineInput(self.item.drafts.get(self.heading, ""), placeholder=self._hint, max_length=LIMIT)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.item.drafts[self.heading] = event.value
        self.send(event.value.strip())
