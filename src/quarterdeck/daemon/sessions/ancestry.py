"""Processes that agents have started, and whether one of them holds a connection. Linux only; elsewhere no caller is
known."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from quarterdeck.api.http.agent_block import BlockedCaller
from quarterdeck.api.http.asgi import Scope
from quarterdeck.core.model.payload import safe_id
from quarterdeck.core.model.state import ProcessId, Session
from quarterdeck.drivers.registry import Drivers
from quarterdeck.sessions.host import supervisor as supervisor
from quarterdeck.system.process_table import (
    HAS_PROC,
    PROC,
    ProcessInfo,
    ancestry,
    process_table,
    read_once,
    runs,
    sees_all_processes,
)
from quarterdeck.system.socket_owner import Address, find_owner, hides_descriptors, holds_socket, is_local

TAG = b"QUARTERDECK_TAG="
HOST_PROGRAMS = tuple(str(Path(supervisor.__file__).with_name(name)).encode() for name in ("supervisor.py", "main.py"))
"""The programs that run above every agent the daemon starts in a terminal; drivers name those of their own."""
HOST_PROGRAMS_BEFORE_0_2 = (b"/quarterdeck/runner/keeper.py", b"/quarterdeck/runner/host.py")
"""Paths of the same programs before 0.2: a terminal started by that version outlives the upgrade. Only the end of the
path is compared, because the upgrade may have moved the folder; a false match only blocks."""
NAMELESS = "unknown"
# A client sends many requests over its connections; a process that starts an agent later is checked again soon.
CLEARED_SECONDS = 10.0
# Each is looked at whenever a connection is checked; the oldest makes room for a new one.
MAX_CLEARED = 64
ATTEMPTS = 3
GONE = BlockedCaller(kind="caller_gone", reason="no process was found for this connection")


class KnownAncestry:
    """Knows agents by their sessions' processes, by the agents' own session files, and by the mark that an agent leaves
    in the environment of processes its tools start."""

    def __init__(
        self, drivers: Drivers, sessions: Callable[[], Mapping[str, Session]], tmux_socket: Path | None = None
    ) -> None:
        """`tmux_socket`: of the server that owned sessions run in."""
        self._drivers = drivers
        self._sessions = sessions
        self._tmux_socket = os.fsencode(tmux_socket) if tmux_socket else b""
        own = (driver.host_programs for driver in drivers.by_name.values())
        self._host_programs = frozenset(HOST_PROGRAMS).union(*own)
        self._cleared: dict[ProcessId, float] = {}
        self._own_marks = {
            self._mark(read_once(f"{PROC}/{proc.pid}/environ")) for proc in ancestry(os.getpid(), process_table().get)
        }

    async def suspect(self, scope: Scope) -> BlockedCaller | None:
        """The reason to block a connection that an agent's process holds. A connection without a visible holder is
        blocked too."""
        client, server = scope.get("client"), scope.get("server")
        if not HAS_PROC or client is None or server is None:
            return None
        known = {s.process: s.session_id for s in self._sessions().values() if s.process is not None}
        return await asyncio.to_thread(self._find, client, server, known)

    def _find(self, client: Address, server: Address, known: Mapping[ProcessId, str]) -> BlockedCaller | None:
        """Search several times until a holder is seen: a process that forks and exits may slip through one search."""
        uid, others = os.getuid(), set[int]()
        for _ in range(ATTEMPTS):
            found = find_owner(client, server)
            if found is None:
                return GONE if is_local(client, server) else None
            if self._is_cleared(found.inode):
                return None
            table = process_table()
            family = descendants(table, self._agents(table, known))
            holder = _holder(found.inode, family, table, self._cleared)
            if holder is not None:
                return self._judge(table[holder], family.get(holder))
            uid, others = found.uid, table.keys() - family.keys()
        unseen = uid != os.getuid() or not sees_all_processes() or any(hides_descriptors(pid) for pid in others)
        return None if unseen else GONE

    def _judge(self, holder: ProcessInfo, session_id: str | None) -> BlockedCaller | None:
        if session_id is not None:
            return _blocked(session_id, holder)
        others = [(process, at) for process, at in self._cleared.items() if process != holder.id]
        self._cleared = dict([*others[1 - MAX_CLEARED :], (holder.id, time.monotonic())])
        return None

    def _is_cleared(self, inode: str) -> bool:
        """True if a process that was cleared a moment ago holds this socket too: a search of all processes is slow."""
        recent = time.monotonic() - CLEARED_SECONDS
        cleared = [process for process, at in self._cleared.items() if at > recent]
        return any(holds_socket(process.pid, inode) and runs(process) for process in cleared)

    def _agents(self, table: Mapping[int, ProcessInfo], known: Mapping[ProcessId, str]) -> dict[int, str]:
        """Every process that is an agent, or was started by one without descending from it any more."""
        agents = {pid: session for pid in table if (session := self._named_session(pid)) is not None}
        for entry in self._drivers.session_files.read():
            proc = table.get(entry.pid)
            if proc is not None and proc.id == self._drivers.session_files.identity(entry):
                agents[entry.pid] = safe_id(entry.session_id, NAMELESS)
        return agents | {process.pid: session for process, session in known.items() if _is(table, process)}

    def _named_session(self, pid: int) -> str | None:
        """The session that a process's environment names: by its agent's mark, or by the tag of a host process. A mark
        that the daemon inherited identifies no agent, because all its children inherit it."""
        environ = read_once(f"{PROC}/{pid}/environ")
        mark = self._mark(environ)
        if mark and mark not in self._own_marks:
            return mark
        if not environ and is_tmux_server(pid, self._tmux_socket):
            return NAMELESS  # an agent started what is below it and in no owned session
        return hosted_session(pid, environ, self._host_programs)

    def _mark(self, environ: bytes) -> str | None:
        """The session named by the mark in a process's environment; None without one, or where it cannot be read."""
        session = self._drivers.child_session(environ.split(b"\0"))
        return None if session is None else safe_id(session, NAMELESS)


def _is(table: Mapping[int, ProcessInfo], process: ProcessId) -> bool:
    proc = table.get(process.pid)
    return proc is not None and proc.id == process


def descendants(table: Mapping[int, ProcessInfo], agents: Mapping[int, str]) -> dict[int, str]:
    """The agents and all processes below them, each with the agent's session. The leader of a process's session counts
    as a parent: it is still there when the parents between have exited."""
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


def _holder(
    inode: str, family: Mapping[int, str], table: Mapping[int, ProcessInfo], cleared: Collection[ProcessId]
) -> int | None:
    """The process that holds a socket: first the agents' processes, then those that held one before, then the others
    from the latest. An agent's process that hides its descriptors counts as the holder when no other holds the
    socket."""
    hiding = None
    for pid in sorted(family.keys() & table.keys()):
        held = holds_socket(pid, inode)
        if held:
            return pid
        hiding = pid if held is None else hiding
    before = {process.pid for process in cleared if _is(table, process)}
    others = sorted(table.keys() - family.keys(), key=lambda pid: (pid in before, pid), reverse=True)
    return next((pid for pid in others if holds_socket(pid, inode)), hiding)


def _blocked(session_id: str, proc: ProcessInfo) -> BlockedCaller:
    return BlockedCaller(
        kind="agent_may_not_decide",
        reason=f"{proc.name} (pid {proc.pid}) was started by agent session {session_id}, and an agent may not decide;"
        " decide from a terminal of your own",
        session_id=session_id,
        pid=proc.pid,
        command=proc.name,
    )


def is_tmux_server(pid: int, socket: bytes) -> bool:
    """True if this is the tmux server of owned sessions, which the daemon starts without an environment."""
    words = read_once(f"{PROC}/{pid}/cmdline").split(b"\0")
    return bool(socket) and words[2:6] == [b"-f", b"/dev/null", b"-S", socket]


def hosted_session(pid: int, environ: bytes, programs: Collection[bytes] = HOST_PROGRAMS) -> str | None:
    """The owned session that a host process runs. Processes that lost their parents are still below it. A host has the
    tag in its environment; the command line of a process without it is not read, as that of most has to be."""
    if environ and TAG not in environ:
        return None
    argv = read_once(f"{PROC}/{pid}/cmdline").split(b"\0")
    if not any(program in argv for program in programs) and not any(
        word.endswith(HOST_PROGRAMS_BEFORE_0_2) for word in argv
    ):
        return None
    tags = (v.removeprefix(TAG) for v in environ.split(b"\0") if v.startswith(TAG))
    return safe_id(next(tags, b"").decode("latin-1"), NAMELESS)
