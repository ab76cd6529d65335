"""Which processes agents have started, and whether one of them holds a connection. Linux; elsewhere nobody is known."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from quarterdeck.api.http.agent_block import Suspect
from quarterdeck.api.http.asgi import Scope
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.sessions.host import supervisor as keeper
from quarterdeck.system.process_table import HAS_PROC, PROC, Proc, process_table, read_small, runs, sees_everyone
from quarterdeck.system.socket_owner import Address, connection, hides, holds_socket, is_here

MARK = b"CLAUDECODE=1"
MARKED_SESSION = b"CLAUDE_CODE_SESSION_ID="
TAG = b"QUARTERDECK_TAG="
KEEPERS = tuple(str(Path(keeper.__file__).with_name(name)).encode() for name in ("supervisor.py", "main.py"))
"""The programs of ours that stand above every agent we start."""
NAMELESS = "unknown"
CLEARED_SECONDS = 10.0
MAX_CLEARED = 64
LOOKS = 3
GONE = Suspect(kind="caller_gone", reason="nobody is seen to hold the connection it came by")


class KnownAncestry:
    """Knows agents by their sessions' processes, by Claude Code's own process files, and by the mark that Claude
    Code leaves in the environment of what its tools start."""

    def __init__(self, folder: SessionsFolder, sessions: Callable[[], Mapping[str, Session]]) -> None:
        self._folder = folder
        self._sessions = sessions
        self._cleared: dict[ProcessId, float] = {}
        self._ours = _marks_above(os.getpid(), process_table())

    async def suspect(self, scope: Scope) -> Suspect | None:
        """Whether a process of an agent holds this connection. Whoever has left it is no one to trust either."""
        client, server = scope.get("client"), scope.get("server")
        if not HAS_PROC or client is None or server is None:
            return None
        known = {s.process: s.session_id for s in self._sessions().values() if s.process is not None}
        return await asyncio.to_thread(self._find, client, server, known)

    def _find(self, client: Address, server: Address, known: Mapping[ProcessId, str]) -> Suspect | None:
        """Look until somebody is seen to hold the connection: one that forks and ends may slip through one look."""
        uid, others = os.getuid(), set[int]()
        for _ in range(LOOKS):
            found = connection(client, server)
            if found is None:
                return GONE if is_here(client, server) else None
            if self._is_cleared(found.inode):
                return None
            table = process_table()
            family = descendants(table, self._agents(table, known))
            holder = _holder(found.inode, family, table)
            if holder is not None:
                return self._judge(table[holder], family.get(holder))
            uid, others = found.uid, table.keys() - family.keys()
        unseen = uid != os.getuid() or not sees_everyone() or any(hides(pid) for pid in others)
        return None if unseen else GONE

    def _judge(self, holder: Proc, session_id: str | None) -> Suspect | None:
        if session_id is not None:
            return _suspect(session_id, holder)
        if len(self._cleared) < MAX_CLEARED:
            self._cleared = {**self._cleared, holder.id: time.monotonic()}
        return None

    def _is_cleared(self, inode: str) -> bool:
        """Whether somebody who was looked at a moment ago holds this socket too."""
        now = time.monotonic()
        self._cleared = {process: at for process, at in self._cleared.items() if now - at < CLEARED_SECONDS}
        return any(holds_socket(process.pid, inode) and runs(process) for process in self._cleared)

    def _agents(self, table: Mapping[int, Proc], known: Mapping[ProcessId, str]) -> dict[int, str]:
        """Every process that is an agent, or was started by one without descending from it any more."""
        agents = {pid: session for pid, proc in table.items() if (session := self._marked(pid) or kept_session(pid))}
        for said in self._folder.read():
            proc = table.get(said.pid)
            if proc is not None and proc.id == self._folder.identity(said):
                agents[said.pid] = safe_id(said.session_id, NAMELESS)
        return agents | {process.pid: session for process, session in known.items() if _is(table, process)}

    def _marked(self, pid: int) -> str | None:
        """Whose mark a process carries; one that stands above us too tells nobody apart."""
        mark = read_mark(pid)
        return mark if mark not in self._ours else None


def _is(table: Mapping[int, Proc], process: ProcessId) -> bool:
    proc = table.get(process.pid)
    return proc is not None and proc.id == process


def descendants(table: Mapping[int, Proc], agents: Mapping[int, str]) -> dict[int, str]:
    """The agents and everything below them, each with the agent's session. Who leads a process's session is above it
    as its parent is, and still there when the parents between have gone."""
    below: dict[int, list[int]] = {}
    for proc in table.values():
        for above in {proc.parent, proc.session} - {proc.pid}:
            below.setdefault(above, []).append(proc.pid)
    family: dict[int, str] = {}
    for agent, session_id in agents.items():
        found = [agent]
        while found:
            pid = found.pop()
            if pid not in family and (pid == agent or pid not in agents):
                family[pid] = session_id
                found += below.get(pid, ())
    return family


def _holder(inode: str, family: Mapping[int, str], table: Mapping[int, Proc]) -> int | None:
    """Who holds a socket: one of the family before anybody else, and the latest first. One of the family that hides
    what it holds is taken for the holder if no other is."""
    hiding = None
    for pid in sorted(family.keys() & table.keys()):
        held = holds_socket(pid, inode)
        if held:
            return pid
        hiding = pid if held is None else hiding
    others = sorted(table.keys() - family.keys(), reverse=True)
    return next((pid for pid in others if holds_socket(pid, inode)), hiding)


def _suspect(session_id: str, proc: Proc) -> Suspect:
    return Suspect(
        kind="agent_may_not_decide",
        reason=f"{proc.name} (pid {proc.pid}) was started by agent session {session_id}, and an agent may not decide;"
        " decide from a terminal of your own",
        session_id=session_id,
        pid=proc.pid,
        command=proc.name,
    )


def read_mark(pid: int) -> str | None:
    """The session named by the mark in a process's environment; None without one, or where it may not be read."""
    variables = read_small(f"{PROC}/{pid}/environ").split(b"\0")
    if MARK not in variables:
        return None
    named = (v for v in variables if v.startswith(MARKED_SESSION))
    return safe_id(next(named, b"").removeprefix(MARKED_SESSION).decode("latin-1"), NAMELESS)


def kept_session(pid: int) -> str | None:
    """The session of ours that a process keeps; whoever of it left its parents is below that one still."""
    argv = read_small(f"{PROC}/{pid}/cmdline").split(b"\0")
    if not any(keeper in argv for keeper in KEEPERS):
        return None
    variables = read_small(f"{PROC}/{pid}/environ").split(b"\0")
    tags = (v.removeprefix(TAG) for v in variables if v.startswith(TAG))
    return safe_id(next(tags, b"").decode("latin-1"), NAMELESS)


def _marks_above(pid: int, table: Mapping[int, Proc]) -> set[str | None]:
    marks: set[str | None] = set()
    while (proc := table.get(pid)) is not None:
        marks.add(read_mark(pid))
        pid = proc.parent
    return marks
