"""The panes of the person's own tmux in which agents run: read on request and cached."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Mapping
from pathlib import Path

import structlog

from quarterdeck.sessions.tmux.user_panes import AgentPane, Running, agent_panes, default_socket

# A surface that draws its list often would otherwise start tmux for each server each time.
FRESH_SECONDS = 2.0
PATIENCE_SECONDS = 0.3
"""A tmux that does not answer must not delay a request: after this the previous result is returned."""

# Old sockets pile up in that folder, and each is asked.
MAX_SERVERS = 8

logger = structlog.get_logger("panes")


class PaneCache:
    """The servers of this user: in tmux's own folder, and the one that the daemon was started in."""

    def __init__(self, running: Running, environ: Mapping[str, str]) -> None:
        self._running = running
        self._folder = default_socket(environ).parent
        self._own_socket = environ.get("TMUX", "").partition(",")[0]
        self._known: Mapping[str, str] = {}
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def attach_commands(self) -> Mapping[str, str]:
        """The command that shows a session's pane, by session id."""
        if self._reading is None and time.monotonic() - self._read_at > FRESH_SECONDS:
            self._reading = asyncio.create_task(self._refresh())
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=PATIENCE_SECONDS)
        return self._known

    async def _refresh(self) -> None:
        try:
            self._known = {pane.session_id: shlex.join(pane.attach) for pane in await self._read()}
        except Exception:
            logger.exception("tmux could not be read")
        finally:
            self._read_at, self._reading = time.monotonic(), None

    async def _read(self) -> list[AgentPane]:
        sockets = await asyncio.to_thread(self._sockets)
        found = await asyncio.gather(*(agent_panes(self._running, socket) for socket in sockets))
        return [pane for panes in found for pane in panes]

    async def panes_of(self, session_id: str) -> list[AgentPane]:
        """The panes in which a session runs now, not as they were read before."""
        return [pane for pane in await self._read() if pane.session_id == session_id]

    def _sockets(self) -> list[Path]:
        try:
            here = sorted(self._folder.iterdir())[:MAX_SERVERS]
        except OSError:
            here = []
        own = Path(self._own_socket) if self._own_socket else None
        return [*here, own] if own is not None and own not in here else here

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
