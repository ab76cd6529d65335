"""Gives a prompt to an agent in a tmux pane: whole, once, and never into somebody's draft or an open dialog."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from quarterdeck.agents.claude.screen import composer, holds, typed_form
from quarterdeck.errors import Refused
from quarterdeck.runner.tmux_server import Server

READY_SECONDS = 5.0
SHOWN_SECONDS = 5.0
TAKEN_SECONDS = 1.0
TRIES = 5
LOOK_SECONDS = 0.05
WAITING = "waiting"


class Typist:
    """Types into one pane, one prompt after the other. `status` is the agent's own word for what it does."""

    def __init__(self, server: Server, pane: str, status: Callable[[], str | None]) -> None:
        self._server, self._pane, self._status = server, pane, status
        self._one = asyncio.Lock()
        self._count = 0

    async def type(self, prompt: str, ready_seconds: float = READY_SECONDS) -> None:
        """Paste the prompt as one piece, see it stand in the composer, and submit it."""
        text = typed_form(prompt)
        if not text.strip():
            raise Refused("the prompt is empty; write something")
        async with self._one:
            await self._be_ready(ready_seconds)
            await self._paste(text)
            await self._submit(text)

    async def _be_ready(self, seconds: float) -> None:
        """Wait until an empty composer is shown. What a person has begun is theirs to finish."""
        until = time.monotonic() + seconds
        while (shown := await self._shown()) is None:
            if self._status() == WAITING:
                raise Refused("it waits for an answer in its terminal; answer there or on the desk, then send again")
            if time.monotonic() > until:
                raise Refused("its terminal shows no place to write; attach to it and look")
            await asyncio.sleep(LOOK_SECONDS)
        if shown:
            raise Refused("somebody has begun to write in its terminal; finish or clear that, then send again")
        if self._status() == WAITING:
            raise Refused("it waits for an answer in its terminal; answer there or on the desk, then send again")

    async def _shown(self) -> str | None:
        """What stands in the composer; None when there is none."""
        pane = ("-p", "-t", self._pane)
        said = await self._server.do(("display-message", *pane, "#{pane_in_mode}"), ("capture-pane", "-e", *pane))
        in_mode, _, screen = said.partition("\n")
        if in_mode != "0":
            raise Refused("somebody scrolls in its terminal; press q there, then send again")
        return composer(screen)

    async def _paste(self, text: str) -> None:
        self._count += 1
        buffer = f"quarterdeck-{self._pane.removeprefix('%')}-{self._count}"
        await self._server.do(
            ("load-buffer", "-b", buffer, "-"),
            ("paste-buffer", "-p", "-d", "-b", buffer, "-t", self._pane),
            stdin=text.encode(errors="replace"),
        )

    async def _submit(self, text: str) -> None:
        """Press Enter once the composer shows the text and nothing else, and again only while it still does."""
        if not await self._stands(text, SHOWN_SECONDS):
            raise Refused("the prompt was typed but does not stand alone in its terminal; attach to it and look")
        for _ in range(TRIES):
            await self._server.do(("send-keys", "-t", self._pane, "Enter"))
            if not await self._stays(text):
                return
        raise Refused("the prompt stands in its terminal and Enter does not submit it; attach to it and look")

    async def _stands(self, text: str, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not holds(await self._shown() or "", text):
            if time.monotonic() > until:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    async def _stays(self, text: str) -> bool:
        """Whether the text is still there after a while. Where nobody can look any more, Enter may have ended it."""
        until = time.monotonic() + TAKEN_SECONDS
        with contextlib.suppress(Refused):
            while (shown := await self._shown()) and holds(shown, text):
                if time.monotonic() > until:
                    return True
                await asyncio.sleep(LOOK_SECONDS)
        return False
