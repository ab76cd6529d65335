"""Asking whether a folder is trusted, under everything that it brings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.styled_text import Line, fold, line
from quarterdeck.surfaces.text.project_config import brings_lines
from quarterdeck.surfaces.tui.dialogs.base import Dialog
from quarterdeck.surfaces.tui.widgets.text_view import Wall

Json = dict[str, Any]
LOOK_SECONDS = 0.1
STYLES = {"head": "strong", "trouble": "warn", "words": "dim"}


def trust_lines(brings: Json) -> Iterator[Line]:
    """What a folder brings, and what trust means."""
    yield line((brings["path"], "strong"), (" is not trusted yet. Sessions in it would have what it brings:", ""))
    for part, text in brings_lines(brings):
        mark = {"item": "  · ", "trouble": "! "}.get(part, "")
        yield line((f"{mark}{text}", STYLES.get(part, "")), hang=4)
    yield line(("Once it is trusted, sessions may be started in it, and its own rules hold.", "dim"))


class TrustDialog(Dialog[bool]):
    """Ends with True when the person trusts the folder, which nobody can who has not seen all of it for a moment."""

    heading = "Trust this project?"
    DEFAULT_CSS = "TrustDialog #brings { scrollbar-gutter: stable; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "trust it"),
        Binding("n", "cancel", "no"),
    ]

    def __init__(self, brings: Json) -> None:
        super().__init__()
        self._brings = brings
        self._shown_at: float | None = None
        self._seen_rows = 0
        self._height = 0

    def inside(self) -> ComposeResult:
        yield Wall(id="brings")

    @property
    def _wall(self) -> Wall:
        return self.query_one("#brings", Wall)

    def on_mount(self) -> None:
        self._wall.focus()
        self.call_after_refresh(self._draw)
        self.set_interval(LOOK_SECONDS, self._look)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        lines = list(trust_lines(self._brings))
        rows = sum(1 for _ in fold(lines, max(20, self._wall.content_size.width)))
        self._height = max(3, min(rows, self.size.height - 7))
        self._wall.styles.height = self._height
        self._wall.show(lines)
        self._seen_rows, self._shown_at = 0, None
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Note how far it has been shown."""
        wall = self._wall
        if wall.rows and wall.size.height == self._height:
            self._seen_rows = max(self._seen_rows, wall.scroll_offset.y + self._height)
            self._shown_at = self._shown_at or time.monotonic()

    def why_not(self) -> str:
        """Why it cannot be trusted yet; empty when it can."""
        if self._shown_at is None or time.monotonic() - self._shown_at < SETTLE_SECONDS:
            return "it has only just come on screen"
        return "there is more below: go down to its end first" if self._seen_rows < len(self._wall.rows) else ""

    def action_yes(self) -> None:
        if why := self.why_not():
            self.app.bell()
            self.trouble(why[:1].upper() + why[1:])
        else:
            self.dismiss(True)
