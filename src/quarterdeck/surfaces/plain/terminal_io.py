"""The terminal, or the pipe, that the lines come from and go to."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TextIO

from quarterdeck.surfaces.client.connection import Talk, aside
from quarterdeck.surfaces.plain.app import Plain
from quarterdeck.surfaces.plain.decide import Deciding
from quarterdeck.surfaces.plain.reports import Records
from quarterdeck.surfaces.plain.sessions import Sessions
from quarterdeck.surfaces.tui.terminal_notify import BEL

FIRST_SECONDS = 5.0
EDITING = importlib.import_module("readline") if importlib.util.find_spec("readline") else None
"""What makes a line that is typed one that can be edited; a Python without it reads lines all the same."""
Say = Callable[[str], None]


def face_on(
    talk: Talk,
    type_line: Callable[[], Awaitable[str | None]],
    say: Say,
    ring: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> Plain:
    """A face that obeys every order there is."""
    face = Plain(talk, type_line, say, ring, clock)
    for part in (Deciding(face), Sessions(face), Records(face)):
        face.take(part.orders)
    return face


async def serve(talk: Talk, typed: TextIO, say: Say) -> None:
    """Follow and obey until there is nothing more to read."""
    await attend(face_on(talk, lambda: aside(lambda: typed.readline() or None), say))


async def attend(face: Plain) -> None:
    """Follow and obey until the person leaves."""
    tasks = [asyncio.create_task(face.follow()), asyncio.create_task(face.measure())]
    try:
        await _first_word(face)
        await face.obey()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first_word(face: Plain) -> None:
    """What is typed at once is about how things stand: that is waited for, but not for long."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(face.heard.wait(), FIRST_SECONDS)


def run(home: Path) -> None:
    """Until the person quits."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    editor = LineEditor()
    say = _printer(sys.stdout, editor.so_far)
    say("Quarterdeck, in lines. help lists the orders.")
    read: Callable[[], str | None] = editor.read if is_terminal else lambda: sys.stdin.readline() or None
    ring = (lambda: _ring(sys.stdout)) if is_terminal else lambda: None
    face = face_on(Talk(home), lambda: aside(read), say, ring)
    face.edits = is_terminal
    with _given_back(is_terminal), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(attend(face))


class LineEditor:
    """Lines typed at a terminal, with what its line editor offers: moving, history."""

    def __init__(self) -> None:
        self._is_open = False

    def read(self) -> str | None:
        """The next line; None at the end."""
        self._is_open = True
        try:
            return input()
        except EOFError:
            return None
        finally:
            self._is_open = False

    def so_far(self) -> str:
        """What stands on the line that is being typed."""
        return str(EDITING.get_line_buffer()) if self._is_open and EDITING is not None else ""


def _printer(out: TextIO, so_far: Callable[[], str]) -> Say:
    """Prints lines. What a person has begun to type stands again below them."""

    def say(words: str) -> None:
        begun = so_far()
        out.write(f"\n{words}\n{begun}" if begun else f"{words}\n")
        out.flush()

    return say


def _ring(out: TextIO) -> None:
    out.write(BEL)
    out.flush()


@contextlib.contextmanager
def _given_back(is_terminal: bool) -> Iterator[None]:
    """The terminal is left as it was found, also where a line is still being read."""
    before = termios.tcgetattr(sys.stdin) if is_terminal else None
    try:
        yield
    finally:
        if before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
