"""Keys that work wherever one is."""

from __future__ import annotations

from textual.binding import Binding, BindingType

APP_KEYS: list[BindingType] = [
    Binding("ctrl+p", "command_palette", "command palette", show=False, priority=True),
    Binding("ctrl+q", "quit", "quit", show=False, priority=True),
    Binding("ctrl+c", "quit", "quit", show=False),
]
