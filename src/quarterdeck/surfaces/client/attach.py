"""Attach this terminal to a session's: keystrokes go to the session, its output appears here."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
import shutil
import termios
import tty
from collections.abc import Callable, Iterator
from typing import Any

from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.live import Connected, LiveClient, LiveMessage, Lost
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.system.terminal_end import RESTORE, run_in_foreground
from quarterdeck.views.resources.session_view import SessionView

DETACH = b"\x1d"
READ = 4096
SIZE_SECONDS = 0.2
Where = Callable[[], tuple[str, str]]
"""Returns the daemon's current address and token."""


def attach_to(session: SessionView, where: Where, surface: str, *, is_here: bool = True) -> None:
    """Attach until the person detaches or the session ends. Needs a thread without a running event loop. A session of
    another machine (not `is_here`) is shown through its daemon, not through a tmux client."""
    owned = session.owned
    if owned is None and session.where and is_here:
        _show_pane(shlex.split(session.where))
        return
    if owned is None or owned.status not in ("starting", "up") or session.mode == "sdk":
        short = session.session_id[:8]
        raise QuarterdeckError(
            f"{short} has no terminal that Quarterdeck can attach to; see: qd feed -f --session {short}"
        )
    if not os.isatty(0) or not os.isatty(1):
        raise QuarterdeckError("attach needs a terminal; without one, use: qd send, qd feed -f")
    if session.mode == "tmux" and owned.terminal and is_here:
        _attach_tmux(shlex.split(owned.terminal))
    else:
        asyncio.run(_attach(session.session_id, where, surface))


def _show_pane(words: list[str]) -> None:
    """Show a pane of the user's own tmux: switch to it from inside that tmux, attach from outside. Without a terminal
    print the command."""
    if not os.isatty(0) or not os.isatty(1):
        _print(shlex.join(words) + "\n")
    elif os.environ.get("TMUX", "").partition(",")[0] == words[2]:
        _run([*words[:3], "switch-client", *words[4:]], dict(os.environ))
    else:
        _attach_tmux(words)


def _attach_tmux(words: list[str]) -> None:
    """Attach with the tmux client. TMUX is unset, because inside another tmux the client would refuse."""
    env = {name: value for name, value in os.environ.items() if name != "TMUX"}
    _run(words, env)


def _run(words: list[str], env: dict[str, str]) -> None:
    if code := run_in_foreground(words, env):
        raise QuarterdeckError(f"{words[0]} failed with exit code {code}; the session may have ended, see: qd sessions")


async def _attach(session_id: str, where: Where, surface: str) -> None:
    _print(f"Attached to {session_id[:8]}; press Ctrl-] to detach.\r\n")
    live = LiveClient(where, client=surface, topics=[f"streams:{session_id}", "sessions"])
    with _raw():
        typing = asyncio.create_task(_type(live, session_id))
        output = asyncio.create_task(_show(live, session_id))
        resizing = asyncio.create_task(_follow_size(live, session_id))
        await asyncio.wait((typing, output), return_when=asyncio.FIRST_COMPLETED)
        for task in (typing, output, resizing):
            task.cancel()
        await asyncio.wait((typing, output, resizing))
    ended = not output.cancelled() and output.exception() is None
    _print(f"{session_id[:8]} has ended.\n" if ended else f"Detached from {session_id[:8]}; it keeps running.\n")
    if not output.cancelled() and (error := output.exception()):
        raise error


def _print(text: str) -> None:
    os.write(1, text.encode())


async def _show(live: LiveClient, session_id: str) -> None:
    """Show the session's output until the session has ended."""
    async for message in live.follow():
        match message:
            case Connected():
                asyncio.get_running_loop().create_task(_size(live, session_id))
            case Lost():
                os.write(1, b"\r\n[connection to the daemon lost; reconnecting]\r\n")
            case LiveMessage(kind="stream", body=body) if body["session_id"] == session_id:
                await _stream(live, session_id, body)
            case LiveMessage(kind="session", body=body) if body["session"]["session_id"] == session_id:
                owned = read_view(SessionView, body["session"]).owned
                if owned is None or owned.status in ("down", "moved"):
                    return
            case _:
                pass


async def _stream(live: LiveClient, session_id: str, body: dict[str, Any]) -> None:
    if body["kind"] == "reset":
        os.write(1, b"\x1b[0m\x1b[H\x1b[2J")
        asyncio.get_running_loop().create_task(_size(live, session_id))
    elif body["kind"] == "terminal":
        data = base64.b64decode(body["data"])
        while data:
            data = data[os.write(1, data) :]


async def _type(live: LiveClient, session_id: str) -> None:
    """Send keystrokes until the person detaches."""
    loop, typed = asyncio.get_running_loop(), asyncio.Queue[bytes]()
    loop.add_reader(0, lambda: typed.put_nowait(os.read(0, READ)))
    try:
        while data := await typed.get():
            before, detach, _ = data.partition(DETACH)
            if before:
                with contextlib.suppress(Refused, NoDaemon):
                    await live.command("terminal_input", session_id=session_id, data=base64.b64encode(before).decode())
            if detach:
                return
    finally:
        loop.remove_reader(0)


async def _size(live: LiveClient, session_id: str) -> None:
    size = shutil.get_terminal_size()
    with contextlib.suppress(Refused, NoDaemon):
        await live.command("terminal_resize", session_id=session_id, cols=size.columns, rows=size.lines)


async def _follow_size(live: LiveClient, session_id: str) -> None:
    """Send the size of this terminal whenever it changes. The size is polled, because signals only reach the main
    thread."""
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
        _print(RESTORE)
