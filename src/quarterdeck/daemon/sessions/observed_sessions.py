"""Commands to sessions that the person started: keys in the pane of their own tmux, and a signal that ends one."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.engine.session_messages import SendPrompt
from quarterdeck.core.model.state import ProcessId
from quarterdeck.drivers.base import SessionFiles, SessionProcess
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.pane_cache import PaneCache
from quarterdeck.sessions.tmux.server import TmuxServer
from quarterdeck.sessions.tmux.user_pane_keys import AgentStatus, UserPane
from quarterdeck.system.process_table import ancestry, process_table, runs
from quarterdeck.system.process_watch import ProcessWatch

# Claude Code takes up to two seconds while a tool runs.
END_SECONDS = 10.0
READS = 10
POLL_SECONDS = 0.05


class ObservedSessions:
    """Sessions in terminals of the person. What cannot be done safely is refused with the reason."""

    def __init__(self, files: SessionFiles, panes: PaneCache) -> None:
        self._files, self._panes = files, panes

    async def send(self, send: SendPrompt) -> None:
        await self._in_pane(send.session_id, lambda pane: pane.send(send.prompt))

    async def interrupt(self, session_id: str) -> None:
        """Press Escape once in its pane. Never a signal: any ends the agent."""
        await self._in_pane(session_id, lambda pane: pane.interrupt())

    async def end(self, session_id: str, process: ProcessId) -> None:
        """End this very process by SIGTERM, then the processes it leaves behind."""
        status, _ = await self._find(session_id)
        if status.process != process:
            raise Refused(
                f"the session now runs as process {status.process.pid}; check that process, then run qd end again"
            )
        below = await asyncio.to_thread(_processes_below, process)
        await _end(process)
        for child in below:
            if runs(child):
                await _end(child)

    async def _in_pane(self, session_id: str, work: Callable[[UserPane], Awaitable[None]]) -> None:
        """Do something in the one pane of a session."""
        status, agent = await self._find(session_id)
        panes = await self._panes.panes_of(session_id)
        if not panes:
            raise Refused(f"the session runs as process {status.process.pid}, outside your tmux; use its own terminal")
        if len(panes) > 1:
            raise Refused("the session is open in several tmux panes; use one of them directly")
        server = TmuxServer(Path(panes[0].socket))
        try:
            process = status.process
            await work(UserPane(server, panes[0], AGENTS[agent], process, lambda: self._read(session_id, process)))
        finally:
            server.close()

    async def _find(self, session_id: str) -> tuple[AgentStatus, str]:
        """The one process that runs this session, and the name of its agent. A file is read again while it is just
        being written."""
        found: list[tuple[ProcessId, SessionProcess]] = []
        for _ in range(READS):
            if found := await asyncio.to_thread(self._running, session_id):
                break
            await asyncio.sleep(POLL_SECONDS)
        else:
            raise Refused("Quarterdeck does not know the session's process; use the session's own terminal")
        if len(found) > 1:
            pids = ", ".join(str(process.pid) for process, _ in found)
            raise Refused(f"several processes run the session ({pids}); use the session's own terminal")
        process, file = found[0]
        return _status(process, file), file.agent

    def _running(self, session_id: str) -> list[tuple[ProcessId, SessionProcess]]:
        files = [file for file in self._files.read() if file.session_id == session_id]
        return [(process, file) for file in files if (process := self._files.identity(file)) is not None]

    def _read(self, session_id: str, process: ProcessId) -> AgentStatus | None:
        """The status of this very process now; None if no file says that it runs this session."""
        for file in self._files.read():
            if file.session_id == session_id and self._files.identity(file) == process:
                return _status(process, file)
        return None


def _status(process: ProcessId, file: SessionProcess) -> AgentStatus:
    return AgentStatus(process=process, status=file.status, pane=file.pane)


def _processes_below(process: ProcessId) -> list[ProcessId]:
    """Everything that a process has started and that runs, but this daemon and what it descends from."""
    table = process_table()
    own = {found.pid for found in ancestry(os.getpid(), table.get)}
    return [
        found.id
        for found in table.values()
        if found.pid not in own
        and found.id != process
        and process in (above.id for above in ancestry(found.pid, table.get))
    ]


async def _end(process: ProcessId) -> None:
    """Signal a process by its pidfd, which belongs to no later process, and wait for its end."""
    has_ended = asyncio.Event()
    watch = ProcessWatch(process, has_ended.set)
    try:
        try:
            watch.send(signal.SIGTERM)
        except PermissionError:
            raise Refused(f"process {process.pid} belongs to another user; end it as that user") from None
        until = time.monotonic() + END_SECONDS
        while watch.runs():
            if time.monotonic() > until:
                raise Refused(f"process {process.pid} got SIGTERM and still runs; end it in its terminal")
            await asyncio.sleep(POLL_SECONDS)
    finally:
        watch.close()
