"""Gives a prompt to an agent in a tmux pane: whole, once, and never into somebody's draft or an open dialog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from operator import ne

from quarterdeck.agents.claude.composer import composer, holds
from quarterdeck.errors import Refused
from quarterdeck.sessions.host.input_line import typed_prompt
from quarterdeck.sessions.tmux.server import Server

START_SECONDS = 30.0
READY_SECONDS = 3.0
SHOWN_SECONDS = 5.0
TAKEN_SECONDS = 1.0
ASKS_SECONDS = 0.5
TRIES = 5
LOOK_SECONDS = 0.05
WAITING = "waiting"


class Typist:
    """Types into one pane, one prompt after the other. `status` is the agent's own word for what it does."""

    def __init__(self, server: Server, pane: str, status: Callable[[], str | None]) -> None:
        self._server, self._pane, self._status = server, pane, status
        self._one = asyncio.Lock()
        self._count = 0
        self._put_back = ""

    async def type(self, prompt: str) -> None:
        """Paste the prompt as one piece, see it stand in the composer, and submit it."""
        try:
            text = typed_prompt(prompt).decode()
        except ValueError as wrong:
            raise Refused(str(wrong)) from None
        async with self._one:
            await self._be_ready()
            await self._paste(text)
            await self._submit(text)

    async def _be_ready(self) -> None:
        """Wait until an empty composer is shown, and still is: one that is drawn anew may look empty for a moment.
        What a person has begun is theirs to finish."""
        began = time.monotonic()
        before: str | None = None
        while (shown := await self._shown()) is None or (not shown and before is None):
            before = shown
            self._refuse_if_it_asks()
            if time.monotonic() - began > (START_SECONDS if self._status() is None else READY_SECONDS):
                raise Refused("its terminal shows no place to write; attach to it and look")
            await asyncio.sleep(LOOK_SECONDS)
        if shown and shown == self._put_back:
            shown = await self._clear(shown)
        if shown:
            raise Refused("somebody has begun to write in its terminal; finish or clear that, then send again")
        self._refuse_if_it_asks()

    def _refuse_if_it_asks(self) -> None:
        if self._status() == WAITING:
            raise Refused("it waits for an answer in its terminal; answer there or on the desk, then send again")

    async def escape(self) -> None:
        """Interrupt it. An agent that had not begun puts the prompt back into its composer: that is nobody's draft."""
        async with self._one:
            before = await self._shown()
            for _ in range(TRIES):
                await self._press("Escape")
                if not await self._still_asks():
                    break
            if not before:
                self._put_back = await self._until(bool, TAKEN_SECONDS) or ""

    async def _still_asks(self) -> bool:
        """Whether its dialog stays open: one that has just opened takes no keys."""
        await self._until(lambda _: self._status() != WAITING, ASKS_SECONDS)
        return self._status() == WAITING

    async def _clear(self, shown: str | None) -> str | None:
        """Take away what was put back, a row with each key; what is left then."""
        self._put_back = ""
        for _ in range(2 * (shown or "").count("\n") + 2):
            await self._press("C-u")
            shown = await self._until(partial(ne, shown), TAKEN_SECONDS)
            if not shown:
                break
        return shown

    async def _press(self, key: str) -> None:
        await self._server.do(("send-keys", "-t", self._pane, key))

    async def _until(self, holds: Callable[[str | None], bool], seconds: float) -> str | None:
        """What stands in the composer once this holds of it, or when the time is over."""
        until = time.monotonic() + seconds
        while True:
            shown = await self._shown()
            if holds(shown) or time.monotonic() > until:
                return shown
            await asyncio.sleep(LOOK_SECONDS)

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
            stdin=text.encode(),
        )

    async def _submit(self, text: str) -> None:
        """Press Enter once the composer shows the text and nothing else, and again only while it still does."""

        def stands(shown: str | None) -> bool:
            return bool(shown) and holds(shown or "", text)

        if not stands(await self._until(stands, SHOWN_SECONDS)):
            raise Refused("the prompt was typed but does not stand alone in its terminal; attach to it and look")
        for _ in range(TRIES):
            await self._press("Enter")
            if await self._is_taken(stands):
                return
        raise Refused("the prompt stands in its terminal and Enter does not submit it; attach to it and look")

    async def _is_taken(self, stands: Callable[[str | None], bool]) -> bool:
        """Whether the text has gone. Where nobody can look any more, Enter has ended the agent."""
        try:
            return not stands(await self._until(lambda shown: not stands(shown), TAKEN_SECONDS))
        except Refused:
            return True
