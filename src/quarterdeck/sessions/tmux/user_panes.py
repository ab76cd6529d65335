"""Claude Code in the person's own tmux: which pane it runs in, and how to get there. Nothing is ever typed there."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.server import Pane, Server
from quarterdeck.system.process_watch import process_table

MAX_FILE = 64 * 1024


class ClaudePane(Struct, frozen=True, kw_only=True):
    """One session of Claude Code and the pane it runs in; `attach` are the words that show it."""

    socket: str
    session: str
    window: str
    pane: str
    pid: int
    session_id: str
    attach: tuple[str, ...]


def default_socket(environ: Mapping[str, str]) -> Path:
    """Where tmux has its socket when nobody says otherwise."""
    return Path(environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}" / "default"  # noqa: S108 tmux's own place


async def claude_panes(config_dir: Path, socket: Path, program: str = "tmux") -> list[ClaudePane]:
    """Those of a server that is not ours; none when there is none, or it belongs to somebody else. The server is asked
    for its panes, and nothing more."""
    if not _is_socket_of_ours(socket):
        return []
    server = Server(socket, program)
    try:
        panes = await server.panes()
    except Refused:
        return []
    finally:
        server.close()
    return await asyncio.to_thread(_placed, panes, config_dir, str(socket), program)


def _is_socket_of_ours(socket: Path) -> bool:
    try:
        found = socket.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.getuid()


def _placed(panes: list[Pane], config_dir: Path, socket: str, program: str) -> list[ClaudePane]:
    table = process_table()
    by_pid = {pane.pid: pane for pane in panes if not pane.dead}
    parents = {process.pid: parent for process, parent in table.items()}
    return [
        ClaudePane(
            socket=socket,
            session=pane.session,
            window=pane.window,
            pane=pane.pane,
            pid=process.pid,
            session_id=session_id,
            attach=(program, "-S", socket, "attach-session", "-t", pane.pane),
        )
        for process, session_id in _agents(config_dir, table)
        if (pane := next((by_pid[pid] for pid in _line(process.pid, parents) if pid in by_pid), None))
    ]


def _line(pid: int, parents: Mapping[int, int]) -> Iterator[int]:
    """A process and those above it."""
    seen: set[int] = set()
    while pid and pid not in seen:
        seen.add(pid)
        yield pid
        pid = parents.get(pid, 0)


def _agents(config_dir: Path, table: Iterable[ProcessId]) -> Iterator[tuple[ProcessId, str]]:
    """Every process that has a file of its own in Claude Code's folder, and is the one that file speaks of."""
    for process in table:
        try:
            with Path(config_dir, "sessions", f"{process.pid}.json").open("rb") as file:
                said = json.loads(file.read(MAX_FILE))
            if str(said["procStart"]) == process.start:
                yield process, str(said["sessionId"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
