"""The command line that opens with `:`. Its commands are about the card that was on screen when it opened."""

from __future__ import annotations

from textual.binding import Binding
from textual.suggester import SuggestFromList
from textual.widget import Widget

from quarterdeck.surfaces.terminal.text_commands import COMMANDS
from quarterdeck.surfaces.tui.keys.decision_keys import DecisionTarget
from quarterdeck.surfaces.tui.widgets.inputs import LineInput


class CommandLine(LineInput):
    """One line at the bottom; hidden until it is opened."""

    BINDINGS = [Binding("escape", "leave", "leave", priority=True)]

    def __init__(self, *, id: str | None = None) -> None:
        names = SuggestFromList([command.name for command in COMMANDS], case_sensitive=False)
        super().__init__(
            placeholder=": a command; Tab completes, ? lists them all",
            suggester=names,
            id=id,
            compact=True,
            select_on_focus=False,
        )
        self.target: DecisionTarget | None = None
        self.focused_before: Widget | None = None

    def open(self, text: str, target: DecisionTarget | None) -> None:
        """Take the focus at once, not after a refresh: the next keys may be there already and are meant for it."""
        self.focused_before = self.screen.focused
        self.target = target
        self.value = text
        self.cursor_position = len(text)
        self.add_class("-shown")
        self.screen.set_focus(self)

    def close(self) -> None:
        """Hide the line and give the focus back."""
        self.remove_class("-shown")
        if self.focused_before is not None and self.focused_before.is_attached:
            self.focused_before.focus()

    def action_leave(self) -> None:
        self.close()

    def key_tab(self) -> None:
        self.action_cursor_right()
