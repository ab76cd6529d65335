"""The dialog that asks to trust a folder, below everything that its project config contains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from textual.binding import Binding

from quarterdeck.surfaces.terminal.lines.trust_lines import trust_lines
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.dialogs.base import LinesDialog

Json = dict[str, Any]
CHECK_SECONDS = 0.1


class TrustDialog(LinesDialog[bool]):
    """Ends with True when the person trusts the folder. That is possible only once all of it has been on screen for
    a moment."""

    heading = "Trust this project?"
    DEFAULT_CSS = "TrustDialog #lines { scrollbar-gutter: stable; }"
    BINDINGS = [
        Binding("y", "yes", "trust it"),
        Binding("n", "cancel", "no"),
    ]

    def __init__(self, project_config: Json) -> None:
        super().__init__()
        self._project_config = project_config
        self._shown_at: float | None = None
        self._seen_rows = 0
        self._height = 0

    def on_mount(self) -> None:
        self.set_interval(CHECK_SECONDS, self._note_seen_rows)

    def lines(self) -> Iterator[StyledLine]:
        return trust_lines(self._project_config)

    def draw(self) -> int:
        self._height = super().draw()
        self._seen_rows, self._shown_at = 0, None
        self.call_after_refresh(self._note_seen_rows)
        return self._height

    def _note_seen_rows(self) -> None:
        """Note how far the view has been scrolled."""
        if not self.query("#lines"):  # the dialog may be closed by now
            return
        view = self.view
        if view.rows and view.size.height == self._height:
            self._seen_rows = max(self._seen_rows, view.scroll_offset.y + self._height)
            self._shown_at = self._shown_at or time.monotonic()

    def blocked_reason(self) -> str:
        """The reason why it cannot be trusted yet; empty when it can."""
        if self._shown_at is None or time.monotonic() - self._shown_at < SETTLE_SECONDS:
            return "the project config has only just appeared"
        return "there is more below: go down to its end first" if self._seen_rows < len(self.view.rows) else ""

    def action_yes(self) -> None:
        if reason := self.blocked_reason():
            self.app.bell()
            self.show_error(reason[:1].upper() + reason[1:])
        else:
            self.dismiss(True)
