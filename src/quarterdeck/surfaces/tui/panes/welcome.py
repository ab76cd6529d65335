"""Three first steps, shown while no session is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import work

from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.terminal.styled_text import TextSpan, line
from quarterdeck.surfaces.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

STEPS = {
    "i": ("screen.run('install')", "connect Claude Code (shows the change first)"),
    "D": ("screen.run('demo')", "play the demo: three agents, no Claude needed"),
    "?": ("screen.help", "what this is, every key, where the docs are"),
}
LINES = tuple(
    line(TextSpan(key, "key", action), TextSpan(f"  {words}", "", action), indent=1)
    for key, (action, words) in STEPS.items()
)
CONNECTED = (line("Start claude in any terminal: its session shows here, and what it asks.", indent=1), *LINES[1:])


class Welcome(TextView, can_focus=False):
    """The first steps."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, classes="pane")
        self.border_title = "Nothing is connected yet"

    def show_connected(self) -> None:
        """Say that Claude Code is connected and that a session is still missing."""
        self.border_title = "Claude Code is connected"
        if self.has_class("-shown"):
            self.show(CONNECTED)

    @work
    async def _check_connected(self) -> None:
        if await run_in_thread(cast("QuarterdeckApp", self.app).is_connected):
            self.show_connected()

    def update(self, visible: bool) -> None:
        """Show or hide the steps."""
        if visible != self.has_class("-shown"):
            self.set_class(visible, "-shown")
            self.show(LINES if visible else ())
            if visible:
                self._check_connected()
