"""Attention: is a person looking at this terminal, as far as it can tell? Pure."""

from __future__ import annotations

AFTER_KEY_SECONDS = 600.0


class Attention:
    """A person looks while the terminal has the focus, or pressed a key in the last 10 minutes. Many terminals report
    no focus; then only keys count. Starting the surface counts as a key."""

    def __init__(self, at: float) -> None:
        self._has_focus = False
        self._last_key = at

    def key(self, at: float) -> None:
        """A key was pressed, or a line was typed."""
        self._last_key = at

    def focus(self, has_focus: bool, at: float) -> None:
        """The terminal reported its focus. Leaving it counts as a key: it was looked at until now."""
        self._has_focus = has_focus
        self._last_key = at

    def is_visible(self, at: float) -> bool:
        """True while a person looks."""
        return self._has_focus or at - self._last_key < AFTER_KEY_SECONDS
