"""A message that goes with a decision."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Input

from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.widgets.line_input import Field

LIMIT = 20_000


class WordsDialog(DecisionDialog[str]):
    """Ends with the words, which may be none."""

    refuses = True

    def __init__(self, asked: Asked, title: str, hint: str) -> None:
        super().__init__(asked)
        self.heading = title
        self._hint = hint

    def inside(self) -> ComposeResult:
        yield self.what()
        yield Field(self.asked.drafts.get(self.heading, ""), placeholder=self._hint, max_length=LIMIT)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.asked.drafts[self.heading] = event.value
        self.send(event.value.strip())
