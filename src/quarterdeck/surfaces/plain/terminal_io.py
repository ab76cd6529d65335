"""Plain mode on a terminal or a pipe: where its lines come from and go to."""

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

from quarterdeck.surfaces.client.connection import DaemonConnection, run_in_thread
from quarterdeck.surfaces.client.remote import RemoteDaemon
from quarterdeck.surfaces.plain import decide, reports, sessions
from quarterdeck.surfaces.plain.app import PlainApp
from quarterdeck.system.terminal_end import ends_with_terminal

BELL = "\a"
FIRST_SECONDS = 5.0
READLINE = importlib.import_module("readline") if importlib.util.find_spec("readline") else None
"""Makes typed lines editable. A Python built without it still reads lines."""
Say = Callable[[str], None]


def create_app(
    daemon: DaemonConnection,
    type_line: Callable[[], Awaitable[str | None]],
    say: Say,
    ring: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> PlainApp:
    """The app with all commands."""
    return PlainApp(daemon, type_line, say, ring, clock, {**decide.COMMANDS, **sessions.COMMANDS, **reports.COMMANDS})


async def run_piped(daemon: DaemonConnection, typed: TextIO, say: Say) -> None:
    """Run plain mode on lines from a pipe, until it ends."""
    await run_app(create_app(daemon, lambda: run_in_thread(lambda: typed.readline() or None), say))


async def run_app(app: PlainApp) -> None:
    """Follow the daemon and run typed commands until the person quits."""
    tasks = [asyncio.create_task(app.follow()), asyncio.create_task(app.poll_forever())]
    try:
        await _wait_until_ready(app)
        await app.run_commands()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _wait_until_ready(app: PlainApp) -> None:
    """Wait a few seconds for the current state: a command typed at once is about that state."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(app.is_ready.wait(), FIRST_SECONDS)


def run(home: Path, remote: RemoteDaemon | None = None) -> None:
    """Run plain mode on standard input and output until the person quits."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    editor = LineEditor()
    say = _printer(sys.stdout, editor.typed_so_far)
    say("Quarterdeck in plain mode. help lists the commands.")
    read: Callable[[], str | None] = editor.read if is_terminal else lambda: sys.stdin.readline() or None
    ring = (lambda: _ring(sys.stdout)) if is_terminal else lambda: None
    app = create_app(DaemonConnection(home, remote=remote), lambda: run_in_thread(read), say, ring)
    app.can_edit = is_terminal
    with _restore_terminal(is_terminal), ends_with_terminal(sys.exit), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run_app(app))


class LineEditor:
    """Lines typed at a terminal, with line editing and history."""

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

    def typed_so_far(self) -> str:
        """The text of the line that is being typed."""
        return str(READLINE.get_line_buffer()) if self._is_open and READLINE is not None else ""


def _printer(out: TextIO, so_far: Callable[[], str]) -> Say:
    """A function that prints lines and repeats below them what the person has typed so far."""

    def say(words: str) -> None:
        typed = so_far()
        out.write(f"\n{words}\n{typed}" if typed else f"{words}\n")
        out.flush()

    return say


def _ring(out: TextIO) -> None:
    out.write(BELL)
    out.flush()


@contextlib.contextmanager
def _restore_terminal(is_terminal: bool) -> Iterator[None]:
    """Restore the terminal's settings at the end, even while a line is still being read."""
    before = termios.tcgetattr(sys.stdin) if is_terminal else None
    try:
        yield
    finally:
        if before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
