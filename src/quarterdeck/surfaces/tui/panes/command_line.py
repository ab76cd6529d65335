"""The line that opens with `:`. What it orders is about the card that was there when it opened."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.suggester import SuggestFromList
from textual.widget import Widget

from quarterdeck.surfaces.terminal.commands import COMMANDS
from quarterdeck.surfaces.tui.panes.request_pane import Aim
from quarterdeck.surfaces.tui.widgets.line_input import Field


class CommandLine(Field):
    """One line at the bottom; hidden until it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", priority=True)]

    def __init__(self, *, id: str | None = None) -> None:
        names = SuggestFromList([command.name for command in COMMANDS], case_sensitive=False)
        super().__init__(
            placeholder=": a command; Tab completes, ? lists them all",
            suggester=names,
            id=id,
            compact=True,
            select_on_focus=False,
        )
        self.aim: Aim | None = None
        self.before: Widget | None = None

    def open(self, begin: str, aim: Aim | None) -> None:
        """Ready to be typed into, at once: what comes in the same breath is meant for it."""
        self.before = self.screen.focused
        self.aim = aim
        self.value = begin
        self.cursor_position = len(begin)
        self.add_class("-shown")
        self.screen.set_focus(self)

    def close(self) -> None:
        """Away; what had the focus has it again."""
        self.remove_class("-shown")
        if self.before is not None and self.before.is_attached:
            self.before.focus()

    def action_leave(self) -> None:
        self.close()

    def key_tab(self) -> None:
        self.action_cursor_right()
