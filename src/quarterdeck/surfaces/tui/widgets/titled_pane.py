"""A pane whose title shows the focus with a sign, not by colour alone."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from quarterdeck.core.text.sanitize import one_line

FOCUSED = "▸ "


class TitledPane(Widget):
    """A pane with a title in its frame."""

    DEFAULT_CLASSES = "pane"
    _title_text = ""

    def set_title(self, words: str) -> None:
        """Change the title; never read as markup."""
        if words != self._title_text:
            self._title_text = words
            self._write_title()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._write_title()

    def _write_title(self) -> None:
        self.border_title = Content(f"{FOCUSED if self.has_focus else ''}{one_line(self._title_text)}")
