"""One session in tmux: its pane, its processes and its viewers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from quarterdeck.agents.registry import AGENTS
from quarterdeck.core.model.runtime_event import FIRST_AGENT
from quarterdeck.core.model.state import ProcessId
from quarterdeck.sessions.host.status_file import read_status
from quarterdeck.sessions.tmux.prompt_input import PanePrompter
from quarterdeck.sessions.tmux.server import Pane, TmuxServer
from quarterdeck.sessions.tmux.viewer import TmuxViewer
from quarterdeck.system.process_table import process_id
from quarterdeck.system.process_watch import ProcessWatch

NO_PROCESS = ProcessId(0, "")


class TmuxSession:
    """One session. `agent` is the agent's own process; the supervisor above it is watched and signalled."""

    def __init__(
        self, server: TmuxServer, pane: Pane, agent: ProcessId | None, on_end: Callable[[TmuxSession], None]
    ) -> None:
        self.pane, self.agent = pane, agent
        self.reason = ""
        self.closing = False
        self.ended = asyncio.Event()
        known = AGENTS.get(pane.agent, AGENTS[FIRST_AGENT])
        self._status_folder = known.status_folder
        self.prompter = PanePrompter(server, pane.pane, known, self.status)
        self._viewers: list[TmuxViewer] = []
        self.watch = ProcessWatch(process_id(pane.pid) or NO_PROCESS, lambda: on_end(self))

    @property
    def session_id(self) -> str:
        return self.pane.session_id

    def status(self) -> str | None:
        """The agent's status in its own process file: idle, busy or waiting. None if unknown."""
        if self.agent is None or not self.pane.config_dir or not self._status_folder:
            return None
        return read_status(f"{self.pane.config_dir}/{self._status_folder}/{self.agent.pid}.json")[0] or None

    def add_viewer(self, viewer: TmuxViewer) -> TmuxViewer:
        self._viewers = [known for known in self._viewers if known.is_open] + [viewer]
        return viewer

    async def release(self) -> None:
        """Stop watching it and close its viewers."""
        self.watch.close()
        for viewer in self._viewers:
            await viewer.close()
