"""Three lines for the first time, when nobody is connected; they are gone as soon as somebody is."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.styled_text import Span, line
from quarterdeck.surfaces.tui.widgets.text_view import Wall

LINES = (
    line(
        Span("i", "key", "screen.install"),
        Span("  connect Claude Code (shows the change first)", "", "screen.install"),
        indent=1,
    ),
    line(
        Span("D", "key", "screen.demo"),
        Span("  play the demo: three agents, no Claude needed", "", "screen.demo"),
        indent=1,
    ),
    line(
        Span("?", "key", "screen.help"),
        Span("  what this is, every key, where the docs are", "", "screen.help"),
        indent=1,
    ),
)


CONNECTED = (line("Start claude in any terminal: its session shows here, and what it asks.", indent=1), *LINES[1:])


class Welcome(Wall, can_focus=False):
    """What to do next."""

    def on_mount(self) -> None:
        self.border_title = "Nobody is connected yet"

    def is_connected(self) -> None:
        """Claude Code was connected from here: what is missing is a session."""
        self.border_title = "Claude Code is connected"
        if self.has_class("-shown"):
            self.show(CONNECTED)

    def tell(self, wanted: bool) -> None:
        """Shown as long as it is wanted."""
        if wanted != self.has_class("-shown"):
            self.set_class(wanted, "-shown")
            self.show(LINES if wanted else ())
