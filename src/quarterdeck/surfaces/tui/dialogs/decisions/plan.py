"""The dialog that approves a plan and chooses the mode the agent works in."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding

from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.surfaces.terminal.forms.answers import PLAN_MODES
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog, label
from quarterdeck.surfaces.tui.dialogs.choices import DIGITS, NumberedChoice


class PlanDialog(DecisionDialog[PlanMode]):
    """Ends with the mode."""

    heading = "Approve the plan; the agent then …"
    BINDINGS = [
        Binding("enter", "save", "approve"),
        Binding("ctrl+s,f2", "save", "approve", priority=True, show=False),
    ]

    def __init__(self, item: RequestItem, start: str = "") -> None:
        super().__init__(item)
        self._start = DIGITS.index(start) if start and start in DIGITS[: len(PLAN_MODES)] else 0

    def compose_box(self) -> ComposeResult:
        words = [(does, f"{about} ({mode.value})") for mode, (does, about) in PLAN_MODES.items()]
        yield NumberedChoice(words, chosen=[self._start], id="mode")
        yield label("None of these lifts every check.")

    def save(self) -> None:
        self.send(list(PLAN_MODES)[self.query_one("#mode", NumberedChoice).picked[0]])
