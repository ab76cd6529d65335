"""Approving a plan: how the agent may work on it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.dialogs.choices import DIGITS, Numbered

MODES = {
    PlanMode.ACCEPT_EDITS: ("edits files without asking", "everything else is asked as usual"),
    PlanMode.DEFAULT: ("asks as usual", "before every edit and every command that no rule allows"),
    PlanMode.AUTO: ("lets Claude Code judge", "asks only for what its own check finds risky"),
    PlanMode.DONT_ASK: ("never asks", "what no rule allows is refused instead"),
}
"""Each mode in words; the first is the one that is picked at first."""


class PlanDialog(DecisionDialog[PlanMode]):
    """Ends with the mode."""

    heading = "Approve the plan; the agent then …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "save", "approve"),
        Binding("ctrl+s,f2", "save", "approve", priority=True, show=False),
    ]

    def __init__(self, asked: Asked, start: str = "") -> None:
        super().__init__(asked)
        self._start = DIGITS.index(start) if start and start in DIGITS[: len(MODES)] else 0

    def inside(self) -> ComposeResult:
        words = [(does, f"{about} ({mode.value})") for mode, (does, about) in MODES.items()]
        yield Numbered(words, chosen=[self._start], id="mode")
        yield Static("None of these lifts every check.", classes="says", markup=False)

    def save(self) -> None:
        self.send(list(MODES)[self.query_one("#mode", Numbered).picked[0]])
