"""A pane with a title that says whether it has the focus, by a sign and not by a colour alone."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from quarterdeck.core.text.sanitize import one_line

FOCUSED = "▸ "


class Titled(Widget):
    """`entitled` says what the pane is called."""

    _called = ""

    def entitled(self, words: str) -> None:
        """Other words in the frame; never markup."""
        if words != self._called:
            self._called = words
            self._write_title()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._write_title()

    def _write_title(self) -> None:
        self.border_title = Content(f"{FOCUSED if self.has_focus else ''}{one_line(self._called)}")
