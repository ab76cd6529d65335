"""Notifications through the terminal: the bell, a desktop notification (OSC 9 and 777), a badge in the title."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from quarterdeck.core.text.amounts import cut
from quarterdeck.core.text.sanitize import one_line

BEL = "\x07"
WIDTH = 120
SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"


def notification(words: str, environ: Mapping[str, str]) -> str:
    """The escape sequences for a desktop notification, in both dialects; terminals ignore the one they do not know."""
    text = cut(one_line(words).replace(";", ","), WIDTH)  # ; separates the parts of OSC 777
    sequences = f"\x1b]9;{text}{BEL}", f"\x1b]777;notify;Quarterdeck;{text}{BEL}"
    return "".join(_through_tmux(sequence) if environ.get("TMUX") else sequence for sequence in sequences)


def _through_tmux(sequence: str) -> str:
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def title(waiting: int) -> str:
    """The escape sequence for the terminal's title, led by the number of waiting requests."""
    badge = f"({waiting}) " if waiting else ""
    return f"\x1b]2;{badge}Quarterdeck{BEL}"


class TerminalNotifier:
    """Notifies once about each waiting request."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.on = True
        self._write = write
        self._notified: set[str] = set()
        self._badge = -1

    def save_title(self) -> None:
        self._write(SAVE_TITLE)

    def restore_title(self) -> None:
        self._write(RESTORE_TITLE)

    def update(self, waiting: Mapping[str, Callable[[], str]]) -> None:
        """Update the badge and notify about new requests, with one bell for all of them.

        `waiting` has a function for each request's text, since it is needed for the first new one only."""
        if len(waiting) != self._badge:
            self._badge = len(waiting)
            self._write(title(self._badge))
        new = [words for key, words in waiting.items() if key not in self._notified]
        self._notified = set(waiting)
        if new and self.on:
            more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
            self._write(BEL + notification(new[0]() + more, os.environ))
