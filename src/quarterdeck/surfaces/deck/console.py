"""`qd deck`: the key deck in a terminal. It draws each model and sends a command for each key."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost
from quarterdeck.surfaces.terminal.forms.deck_panel import DeckCommandCall, DeckKeyReader, deck_lines
from quarterdeck.surfaces.terminal.styled_text import Row, fold

Json = dict[str, Any]
COLOURS = {"good": "32", "blocked": "31", "warn": "33", "strong": "1", "dim": "2"}
ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
SPECIAL = {b"\r": "enter", b"\n": "enter", b"\x1b": "escape"}
CTRL_D, CTRL_C = b"\x04", b"\x03"
REDRAW_SECONDS = 1.0


class DeckConsole:
    """One deck on this terminal, until q."""

    def __init__(self, where: Callable[[], tuple[str, str]]) -> None:
        self._live = LiveClient(where, client="deck", topics=["render"])
        self._reader = DeckKeyReader()
        self._model: Json | None = None
        self._note = "Connecting…"
        self._typed: asyncio.Queue[bytes] = asyncio.Queue()

    async def run(self) -> None:
        """Draw and read keys until q. Raises `Refused` when the daemon refuses the connection."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Refused("qd deck needs a terminal; for a script: qd deck show --json")
        with _raw_terminal():
            loop = asyncio.get_running_loop()
            loop.add_reader(sys.stdin.fileno(), lambda: self._typed.put_nowait(os.read(sys.stdin.fileno(), 16)))
            try:
                async with asyncio.TaskGroup() as tasks:
                    background = [tasks.create_task(self._follow()), tasks.create_task(self._age())]
                    await self._read_keys()
                    for task in background:
                        task.cancel()
            except* QuarterdeckError as group:
                raise group.exceptions[0] from None
            finally:
                loop.remove_reader(sys.stdin.fileno())

    async def _follow(self) -> None:
        async for message in self._live.follow():
            match message:
                case LiveMessage(kind="render", body=body):
                    self._model = body["model"]
                case Lost(reason=reason):
                    self._model, self._note = None, f"Not connected: {reason}"
                case Connected():
                    self._note = ""
            self._draw()

    async def _age(self) -> None:
        """Draw again now and then, as the state gets older."""
        while True:
            await asyncio.sleep(REDRAW_SECONDS)
            self._draw()

    async def _read_keys(self) -> None:
        while (typed := await self._typed.get()) not in (b"q", CTRL_C, CTRL_D, b""):
            if self._model is None:
                continue
            name = SPECIAL.get(typed) or typed.decode(errors="replace")
            call = self._reader.read(name, self._model)
            self._note = self._reader.note
            if call is not None:
                await self._send(call)
            self._draw()

    async def _send(self, call: DeckCommandCall) -> None:
        try:
            await self._live.command(call.name, **call.args)
        except QuarterdeckError as error:
            self._note = str(error)

    def _draw(self) -> None:
        width, height = shutil.get_terminal_size()
        lines = deck_lines(self._model, time.time(), self._note) if self._model is not None else ()
        rows = list(fold(lines, width - 1))[:height]
        texts = [coloured(row) for row in rows] or [self._note]
        sys.stdout.write("\x1b[H" + "\x1b[K\r\n".join(texts) + "\x1b[J")
        sys.stdout.flush()


def coloured(row: Row) -> str:
    return "".join(
        f"\x1b[{COLOURS[span.style]}m{span.text}\x1b[0m" if span.style in COLOURS else span.text for span in row
    )


@contextmanager
def _raw_terminal() -> Iterator[None]:
    """Keys come one by one, on a screen of its own; the terminal is as before afterwards."""
    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        tty.setcbreak(sys.stdin.fileno())
        sys.stdout.write(ENTER_SCREEN)
        sys.stdout.flush()
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
        sys.stdout.write(LEAVE_SCREEN)
        sys.stdout.flush()
