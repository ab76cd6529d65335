"""The dialog that asks to trust a folder, below everything that its project config contains."""

from __future__ import annotations

import time
from typing import Any

from textual.app import ComposeResult
from textual.binding import Binding

from quarterdeck.surfaces.terminal.lines.trust_lines import trust_lines
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.styled_text import fold
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.widgets.text_view import TextView

Json = dict[str, Any]
CHECK_SECONDS = 0.1


class TrustDialog(Dialog[bool]):
    """Ends with True when the person trusts the folder. That is possible only once all of it has been on screen for
    a moment."""

    heading = "Trust this project?"
    DEFAULT_CSS = "TrustDialog #project-config { scrollbar-gutter: stable; }"
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

    def compose_box(self) -> ComposeResult:
        yield TextView(id="project-config")

    @property
    def _view(self) -> TextView:
        return self.query_one("#project-config", TextView)

    def on_mount(self) -> None:
        self._view.focus()
        self.call_after_refresh(self._draw)
        self.set_interval(CHECK_SECONDS, self._note_seen_rows)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        lines = list(trust_lines(self._project_config))
        rows = sum(1 for _ in fold(lines, max(20, self._view.content_size.width)))
        self._height = max(3, min(rows, self.size.height - 7))
        self._view.styles.height = self._height
        self._view.show(lines)
        self._seen_rows, self._shown_at = 0, None
        self.call_after_refresh(self._note_seen_rows)

    def _note_seen_rows(self) -> None:
        """Note how far the view has been scrolled."""
        if not self.query("#project-config"):  # the dialog may be closed by now
            return
        view = self._view
        if view.rows and view.size.height == self._height:
            self._seen_rows = max(self._seen_rows, view.scroll_offset.y + self._height)
            self._shown_at = self._shown_at or time.monotonic()

    def blocked_reason(self) -> str:
        """The reason why it cannot be trusted yet; empty when it can."""
        if self._shown_at is None or time.monotonic() - self._shown_at < SETTLE_SECONDS:
            return "the project config has only just appeared"
        return "there is more below: go down to its end first" if self._seen_rows < len(self._view.rows) else ""

    def action_yes(self) -> None:
        if reason := self.blocked_reason():
            self.app.bell()
            self.show_error(reason[:1].upper() + reason[1:])
        else:
            self.dismiss(True)
