"""A session's terminal in this one: everything typed goes there, and what it shows comes here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
import shutil
import subprocess
import termios
import tty
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.live import Connected, Live, Lost, Message

LEAVE = b"\x1d"
READ = 4096
SIZE_SECONDS = 0.2
RESTORE = "\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?25h\x1b[0m\r\n"
"""A terminal as a shell likes it, whatever the session had made of it."""


Where = Callable[[], tuple[str, str]]
"""The daemon's address and credential, as they are now."""


def attach_to(session: dict[str, Any], where: Where, surface: str) -> None:
    """Until the person leaves it or the session ends. Needs a thread in which no event loop runs."""
    owned = session["owned"]
    if owned is None and session.get("where"):
        _show_pane(shlex.split(session["where"]))
        return
    if owned is None or owned["status"] not in ("starting", "up") or session["mode"] == "sdk":
        short = session["session_id"][:8]
        raise QuarterdeckError(f"{short} has no terminal of ours; see: qd feed -f --session {short}")
    if not os.isatty(0) or not os.isatty(1):
        raise QuarterdeckError("attach needs a terminal; without one: qd send, qd feed -f")
    if session["mode"] == "tmux" and owned["terminal"]:
        _attach_tmux(shlex.split(owned["terminal"]))
    else:
        asyncio.run(_attach(session["session_id"], where, surface))


def _show_pane(words: list[str]) -> None:
    """A pane of the person's own tmux: from within that very tmux it is switched to. Without a terminal it is named."""
    if not os.isatty(0) or not os.isatty(1):
        _say(shlex.join(words) + "\n")
    elif os.environ.get("TMUX", "").partition(",")[0] == words[2]:
        _run([*words[:3], "switch-client", *words[4:]], dict(os.environ))
    else:
        _attach_tmux(words)


def _attach_tmux(words: list[str]) -> None:
    """Its own client does it. Inside another tmux it would refuse, if it knew."""
    env = {name: value for name, value in os.environ.items() if name != "TMUX"}
    _run(words, env)


def _run(words: list[str], env: dict[str, str]) -> None:
    done = subprocess.run(words, env=env, check=False)  # noqa: S603 the daemon names its own tmux, or the person's
    if done.returncode:
        raise QuarterdeckError(f"{words[0]} ended with {done.returncode}; the session may be over: qd sessions")


async def _attach(session_id: str, where: Where, surface: str) -> None:
    _say(f"Attached to {session_id[:8]}; Ctrl-] leaves it running.\r\n")
    live = Live(where, client=surface, topics=[f"streams:{session_id}", "sessions"])
    with _raw():
        left = asyncio.create_task(_type(live, session_id))
        shown = asyncio.create_task(_show(live, session_id))
        sized = asyncio.create_task(_follow_size(live, session_id))
        await asyncio.wait((left, shown), return_when=asyncio.FIRST_COMPLETED)
        for task in (left, shown, sized):
            task.cancel()
        await asyncio.wait((left, shown, sized))
    ended = not shown.cancelled() and shown.exception() is None
    _say(f"{session_id[:8]} has ended.\n" if ended else f"Left {session_id[:8]}; it goes on.\n")
    if not shown.cancelled() and (error := shown.exception()):
        raise error


def _say(words: str) -> None:
    os.write(1, words.encode())


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


async def _follow_size(live: Live, session_id: str) -> None:
    """Tell how large this terminal is whenever that changes. It is looked at, since signals reach only one thread."""
    size = shutil.get_terminal_size()
    while True:
        await asyncio.sleep(SIZE_SECONDS)
        if (now := shutil.get_terminal_size()) != size:
            size = now
            await _size(live, session_id)


@contextlib.contextmanager
def _raw() -> Iterator[None]:
    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        _say(RESTORE)
