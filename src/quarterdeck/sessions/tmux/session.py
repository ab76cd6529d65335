"""One session in tmux, as we hold it: its pane, its processes, and who looks at it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from quarterdeck.core.model.state import ProcessId
from quarterdeck.sessions.tmux.prompt_input import Typist
from quarterdeck.sessions.tmux.server import Pane, Server
from quarterdeck.sessions.tmux.viewer import TmuxViewer
from quarterdeck.system.process_watch import Watch, process_id

MAX_FILE = 64 * 1024
NOBODY = ProcessId(0, "")


class Session:
    """`agent` is the agent's own process; what is watched and signalled is the keeper above it."""

    def __init__(self, server: Server, pane: Pane, agent: ProcessId | None, ended: Callable[[Session], None]) -> None:
        self.pane, self.agent = pane, agent
        self.reason = ""
        self.burying = False
        self.over = asyncio.Event()
        self.typist = Typist(server, pane.pane, self.status)
        self._viewers: list[TmuxViewer] = []
        self.watch = Watch(process_id(pane.pid) or NOBODY, lambda: ended(self))

    @property
    def session_id(self) -> str:
        return self.pane.session_id

    def status(self) -> str | None:
        """What the agent's own process file says it does: idle, busy or waiting. None when it says nothing."""
        if self.agent is None or not self.pane.config_dir:
            return None
        file = Path(self.pane.config_dir, "sessions", f"{self.agent.pid}.json")
        try:
            with file.open("rb") as opened:
                return str(json.loads(opened.read(MAX_FILE))["status"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def seen_by(self, viewer: TmuxViewer) -> TmuxViewer:
        self._viewers = [known for known in self._viewers if known.is_open] + [viewer]
        return viewer

    async def leave(self) -> None:
        """Hold it no longer."""
        self.watch.close()
        for viewer in self._viewers:
            await viewer.close()
