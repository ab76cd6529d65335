"""Telling a person who looks elsewhere: the bell, a desktop notification (OSC 9 and 777), a badge in the title."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.core.text.titles import cut

BEL = "\x07"
WIDTH = 120
KEEP_TITLE, GIVE_BACK_TITLE = "\x1b[22;2t", "\x1b[23;2t"


def notification(words: str, environ: Mapping[str, str]) -> str:
    """What makes a terminal notify, in the two ways that terminals know; others ignore it."""
    said = cut(one_line(words).replace(";", ","), WIDTH)
    orders = f"\x1b]9;{said}{BEL}", f"\x1b]777;notify;Quarterdeck;{said}{BEL}"
    return "".join(_through_tmux(order) if environ.get("TMUX") else order for order in orders)


def _through_tmux(order: str) -> str:
    doubled = order.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def title(waiting: int) -> str:
    """The title of the terminal, with how many wait in front."""
    badge = f"({waiting}) " if waiting else ""
    return f"\x1b]2;{badge}Quarterdeck{BEL}"


class Notifier:
    """Says each request once, and only to a terminal."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.on = True
        self._write = write
        self._told: set[str] = set()
        self._badge = -1

    def begin(self) -> None:
        self._write(KEEP_TITLE)

    def end(self) -> None:
        self._write(GIVE_BACK_TITLE)

    def tell(self, waiting: Mapping[str, Callable[[], str]]) -> None:
        """Who waits, by request id, each with its words on demand; those that are new ring once, together."""
        if len(waiting) != self._badge:
            self._badge = len(waiting)
            self._write(title(self._badge))
        new = [words for key, words in waiting.items() if key not in self._told]
        self._told = set(waiting)
        if new and self.on:
            more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
            self._write(BEL + notification(new[0]() + more, os.environ))
