"""Asking whether a folder is trusted, under everything that it brings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from quarterdeck.surfaces.bringing import brings_lines
from quarterdeck.surfaces.tui.dialogs.dialog import Dialog
from quarterdeck.surfaces.tui.lines import Line, fold, line
from quarterdeck.surfaces.tui.wall import Wall

Json = dict[str, Any]
STYLES = {"head": "strong", "trouble": "warn", "words": "dim"}


def trust_lines(brings: Json) -> Iterator[Line]:
    """What a folder brings, and what trust means."""
    yield line((brings["path"], "strong"), (" is not trusted yet. Sessions in it would have what it brings:", ""))
    for part, text in brings_lines(brings):
        mark = {"item": "  · ", "trouble": "! "}.get(part, "")
        yield line((f"{mark}{text}", STYLES.get(part, "")), hang=4)
    yield line(("Once it is trusted, sessions may be started in it, and its own rules hold.", "dim"))


class TrustDialog(Dialog[bool]):
    """Ends with True when the person trusts the folder."""

    heading = "Trust this project?"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "trust it"),
        Binding("n", "cancel", "no"),
    ]

    def __init__(self, brings: Json) -> None:
        super().__init__()
        self._brings = brings

    def inside(self) -> ComposeResult:
        yield Wall(id="brings")

    def on_mount(self) -> None:
        self.query_one(Wall).focus()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        wall = self.query_one(Wall)
        lines = list(trust_lines(self._brings))
        rows = sum(1 for _ in fold(lines, max(20, wall.content_size.width - 1)))
        wall.styles.height = max(3, min(rows, self.size.height - 7))
        wall.show(lines)

    def action_yes(self) -> None:
        self.dismiss(True)
