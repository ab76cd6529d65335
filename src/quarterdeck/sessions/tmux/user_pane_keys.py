"""Keys for an agent in the person's own tmux: one Escape, or one prompt, and only while the agent itself would get
them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from msgspec import Struct

from quarterdeck.agents.base import Agent
from quarterdeck.core.model.state import ProcessId
from quarterdeck.errors import Refused
from quarterdeck.sessions.tmux.prompt_input import POLL_SECONDS, WAITING, PanePrompter
from quarterdeck.sessions.tmux.server import TmuxServer
from quarterdeck.sessions.tmux.user_panes import AgentPane
from quarterdeck.system.process_table import runs
from quarterdeck.system.terminal_group import foreground_terminal, terminal_device

BUSY = "busy"
# The end of a tool that ignores its first signal takes the agent this long.
INTERRUPT_SECONDS = 10.0
# An agent may replace the content of its file in two steps, and says that it is busy a moment after its hooks do.
WRITE_SECONDS = 2.0
FORMAT = "#{pane_id} #{pane_in_mode} #{pane_dead} #{pane_tty}"


class AgentStatus(Struct, frozen=True, kw_only=True):
    """What an agent's own file says of it now; `pane` is the tmux pane that it names, empty if it names none."""

    process: ProcessId
    status: str
    pane: str = ""


class UserPane:
    """One agent's process and its pane. `read_status` reads the agent's file again; None if that says nothing of it."""

    def __init__(
        self,
        server: TmuxServer,
        pane: AgentPane,
        agent: Agent,
        process: ProcessId,
        read_status: Callable[[], AgentStatus | None],
        *,
        settle_seconds: float = WRITE_SECONDS,
    ) -> None:
        self._server, self._pane, self._agent = server, pane, agent
        self._process, self._read_status = process, read_status
        self._settle_seconds = settle_seconds

    async def interrupt(self) -> None:
        """Press Escape exactly once; done when the agent's own status says that it is no longer busy."""
        settled_at = time.monotonic() + self._settle_seconds
        while (refusal := await self._interrupt_refusal()) is not None:
            if time.monotonic() > settled_at:
                raise Refused(refusal)
            await asyncio.sleep(POLL_SECONDS)
        await self._check()
        await self._server.execute(("send-keys", "-t", self._pane.pane, "Escape"))
        until = time.monotonic() + INTERRUPT_SECONDS
        while (await self._status()).status == BUSY:
            if time.monotonic() > until:
                raise Refused(f"Escape was pressed, and the session is still {BUSY}; check its terminal")
            await asyncio.sleep(POLL_SECONDS)

    async def _interrupt_refusal(self) -> str | None:
        """The reason why no Escape may be pressed now; None when it may."""
        status = await self._check()
        if status.status != BUSY:
            return f"the session's status is {status.status or 'unknown'}, not {BUSY}: nothing was pressed"
        if self._agent.composer_text(await self._server.capture(self._pane.pane, colours=True)) is None:
            return "the session's terminal shows a dialog or no prompt: nothing was pressed; check that terminal"
        return None

    async def send(self, prompt: str) -> None:
        """Paste the prompt, and press Enter only when the composer holds exactly that."""
        status = await self._check()
        if status.status == WAITING:
            raise Refused("the session is waiting for an answer in its terminal; answer there, then send again")
        prompter = PanePrompter(
            self._server,
            self._pane.pane,
            self._agent,
            self._status_word,
            check=self._check_keys,
            is_exact=True,
        )
        await prompter.type(prompt)

    async def _status(self) -> AgentStatus:
        """The session's status; read again while its file is just being written."""
        until = time.monotonic() + WRITE_SECONDS
        while (status := await asyncio.to_thread(self._read_status)) is None:
            if not runs(self._process):
                raise Refused("the session's process has ended; resume the session first")
            if time.monotonic() > until:
                raise Refused("the agent's own file says nothing about the session; check the session's terminal")
            await asyncio.sleep(POLL_SECONDS)
        return status

    def _status_word(self) -> str | None:
        status = self._read_status()
        return status.status if status else None

    async def _check_keys(self) -> None:
        await self._check()

    async def _check(self) -> AgentStatus:
        """Check that keys in this pane reach this very agent: nothing else is in front, and the pane takes keys."""
        status = await self._status()
        if status.pane and status.pane != self._pane.pane:
            raise Refused(
                f"the session's own file names tmux pane {status.pane}, not {self._pane.pane}; use its terminal"
            )
        shown = await self._server.execute(("display-message", "-p", "-t", self._pane.pane, FORMAT))
        pane, in_mode, dead, terminal = (*shown.split(), "", "", "", "")[:4]
        if pane != self._pane.pane or dead != "0":
            raise Refused("the session's tmux pane is gone; use its terminal")
        if in_mode != "0":
            raise Refused("the session's tmux pane is in copy mode; press q there, then try again")
        device = await asyncio.to_thread(foreground_terminal, status.process.pid)
        if device is None or device != terminal_device(terminal):
            raise Refused(
                "the session is not in the foreground of its tmux pane, so keys would go elsewhere; use its terminal"
            )
        return status
