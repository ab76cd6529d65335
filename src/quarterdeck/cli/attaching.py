"""A session's terminal in this one: everything typed goes there, and what it shows comes here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
import shutil
import signal
import sys
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from typing import Any

from quarterdeck.config import home_path
from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client import Client
from quarterdeck.surfaces.live import Connected, Live, Lost, Message

LEAVE = b"\x1d"
READ = 4096
RESTORE = "\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?25h\x1b[0m\r\n"
"""A terminal as a shell likes it, whatever the session had made of it."""


def attach_to(session: dict[str, Any]) -> None:
    """Until the person leaves it or the session ends."""
    owned = session["owned"]
    if owned is None or owned["status"] not in ("starting", "up") or session["mode"] == "sdk":
        short = session["session_id"][:8]
        raise QuarterdeckError(f"{short} has no terminal of ours; see: qd feed -f --session {short}")
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise QuarterdeckError("attach needs a terminal; without one: qd send, qd feed -f")
    if session["mode"] == "tmux" and owned["terminal"]:
        words = shlex.split(owned["terminal"])
        os.execvp(words[0], words)  # noqa: S606 the daemon names its own tmux
    asyncio.run(_attach(session["session_id"]))


async def _attach(session_id: str) -> None:
    sys.stdout.write(f"Attached to {session_id[:8]}; Ctrl-] leaves it running.\r\n")
    sys.stdout.flush()
    live = Live(lambda: Client.where(home_path()), client="cli", topics=[f"streams:{session_id}", "sessions"])
    with _raw():
        left = asyncio.create_task(_type(live, session_id))
        shown = asyncio.create_task(_show(live, session_id))
        async with _resizing(live, session_id):
            await asyncio.wait((left, shown), return_when=asyncio.FIRST_COMPLETED)
        for task in (left, shown):
            task.cancel()
    ended = shown.done() and not shown.cancelled() and shown.exception() is None
    sys.stdout.write(f"{session_id[:8]} has ended.\n" if ended else f"Left {session_id[:8]}; it goes on.\n")
    if shown.done() and not shown.cancelled() and (error := shown.exception()):
        raise error


async def _show(live: Live, session_id: str) -> None:
    """What the session shows, until it has ended."""
    async for said in live.follow():
        match said:
            case Connected():
                asyncio.get_running_loop().create_task(_size(live, session_id))
            case Lost():
                os.write(1, b"\r\n[the daemon is away; waiting]\r\n")
            case Message(kind="stream", body=body) if body["session_id"] == session_id:
                await _stream(live, session_id, body)
            case Message(kind="session", body=body) if body["session"]["session_id"] == session_id:
                owned = body["session"]["owned"]
                if owned is None or owned["status"] in ("down", "moved"):
                    return
            case _:
                pass


async def _stream(live: Live, session_id: str, body: dict[str, Any]) -> None:
    if body["kind"] == "reset":
        os.write(1, b"\x1b[0m\x1b[H\x1b[2J")
        asyncio.get_running_loop().create_task(_size(live, session_id))
    elif body["kind"] == "terminal":
        data = base64.b64decode(body["data"])
        while data:
            data = data[os.write(1, data) :]


async def _type(live: Live, session_id: str) -> None:
    """What is typed here, until the person leaves."""
    loop, typed = asyncio.get_running_loop(), asyncio.Queue[bytes]()
    loop.add_reader(0, lambda: typed.put_nowait(os.read(0, READ)))
    try:
        while data := await typed.get():
            before, leave, _ = data.partition(LEAVE)
            if before:
                with contextlib.suppress(Refused, NoDaemon):
                    await live.command("terminal_input", session_id=session_id, data=base64.b64encode(before).decode())
            if leave:
                return
    finally:
        loop.remove_reader(0)


async def _size(live: Live, session_id: str) -> None:
    size = shutil.get_terminal_size()
    with contextlib.suppress(Refused, NoDaemon):
        await live.command("terminal_resize", session_id=session_id, cols=size.columns, rows=size.lines)


@contextlib.asynccontextmanager
async def _resizing(live: Live, session_id: str) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def resized() -> None:
        task = loop.create_task(_size(live, session_id))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGWINCH, resized)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        sys.stdout.write(RESTORE)
        sys.stdout.flush()
