"""Agents in the person's own tmux: the panes that they run in, and the command that shows each."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.server import Pane, TmuxServer
from quarterdeck.system.process_table import ancestry, process_table

Running = Callable[[], list[tuple[ProcessId, str]]]
"""Every agent's process that runs here, with its session."""


class AgentPane(Struct, frozen=True, kw_only=True):
    """One session of an agent and the pane it runs in; `attach` is the command that shows it."""

    socket: str
    session: str
    window: str
    pane: str
    pid: int
    session_id: str
    attach: tuple[str, ...]


def default_socket(environ: Mapping[str, str]) -> Path:
    """The socket that tmux uses by default."""
    return Path(environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / "default"  # noqa: S108 tmux's own place


async def agent_panes(running: Running, socket: Path, program: str = "tmux") -> list[AgentPane]:
    """The panes with an agent on a person's server; none if there is no server, or it belongs to another user. The
    server is only asked for its panes."""
    if not _is_own_socket(socket):
        return []
    server = TmuxServer(socket, program)
    try:
        panes = await server.panes()
    except Refused:
        return []
    finally:
        server.close()
    return await asyncio.to_thread(_match_panes, panes, running, str(socket), program)


def _is_own_socket(socket: Path) -> bool:
    try:
        found = socket.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()


def _match_panes(panes: list[Pane], running: Running, socket: str, program: str) -> list[AgentPane]:
    table = process_table()
    by_pid = {pane.pid: pane for pane in panes if not pane.dead}

    def above(pid: int) -> tuple[int, ...]:
        return pid, *(proc.pid for proc in ancestry(pid, table.get))  # itself too where there is no table

    return [
        AgentPane(
            socket=socket,
            session=pane.session,
            window=pane.window,
            pane=pane.pane,
            pid=process.pid,
            session_id=session_id,
            attach=(program, "-S", socket, "attach-session", "-t", pane.pane),
        )
        for process, session_id in running()
        if (pane := next((by_pid[pid] for pid in above(process.pid) if pid in by_pid), None))
    ]
