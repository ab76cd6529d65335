"""Types a prompt into a tmux pane: whole, once, and never into a person's draft or an open dialog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from operator import ne

from quarterdeck.agents.base import Agent
from quarterdeck.errors import Refused
from quarterdeck.sessions.host.input_line import typed_prompt
from quarterdeck.sessions.tmux.server import TmuxServer

# An agent on a busy machine draws its composer this late after its start.
START_SECONDS = 30.0
READY_SECONDS = 3.0
SHOWN_SECONDS = 5.0
TAKEN_SECONDS = 1.0
DIALOG_SECONDS = 0.5
TRIES = 5
POLL_SECONDS = 0.05
WAITING = "waiting"


async def _no_check() -> None:
    """The check of a pane that belongs to Quarterdeck: there only the agent gets keys."""


class PanePrompter:
    """Types into one pane, one prompt after the other. `status` returns the agent's own status; `check` is called
    before each key and refuses where others would get it. `is_exact`: Enter needs the prompt on screen character by
    character, not folded."""

    def __init__(
        self,
        server: TmuxServer,
        pane: str,
        agent: Agent,
        status: Callable[[], str | None],
        ready_seconds: float = READY_SECONDS,
        *,
        check: Callable[[], Awaitable[None]] = _no_check,
        is_exact: bool = False,
    ) -> None:
        self._check, self._is_exact = check, is_exact
        self._server, self._pane, self._agent, self._status = server, pane, agent, status
        self._ready_seconds = ready_seconds
        self._has_drawn = is_exact  # a person's agent, unlike one that was just started
        self._lock = asyncio.Lock()  # a prompt takes several steps, and no other key may come between them
        self._count = 0
        self._returned_prompt = ""

    async def type(self, prompt: str) -> None:
        """Paste the prompt as one piece, wait until the composer shows it, and submit it."""
        try:
            text = typed_prompt(prompt).decode()
        except ValueError as error:
            raise Refused(str(error)) from None
        async with self._lock:
            await self._wait_until_ready()
            await self._paste(text)
            await self._submit(text)

    async def _wait_until_ready(self) -> None:
        """Wait until the composer is empty twice in a row: while it is redrawn it may look empty for a moment. A
        person's draft is refused. The status is not enough: an agent may be idle long before it first draws its
        composer."""
        until = time.monotonic() + (self._ready_seconds if self._has_drawn else START_SECONDS)
        before: str | None = None
        while (shown := await self._composer_text()) is None or (not shown and before is None):
            before = shown
            self._refuse_if_waiting()
            if time.monotonic() > until:
                raise Refused("the session's terminal shows no prompt; attach to it and check")
            await asyncio.sleep(POLL_SECONDS)
        if shown and shown == self._returned_prompt:
            shown = await self._clear(shown)
        if shown:
            raise Refused("there is unsent text in the session's terminal; send or clear it there, then send again")
        self._refuse_if_waiting()

    def _refuse_if_waiting(self) -> None:
        if self._status() == WAITING:
            raise Refused(
                "the session is waiting for an answer in its terminal; answer there or in Quarterdeck, then send again"
            )

    async def interrupt(self) -> None:
        """Interrupt the agent. If it had not begun, it puts the prompt back into its composer: that is not a person's
        draft."""
        async with self._lock:
            before = await self._composer_text()
            for _ in range(TRIES):
                await self._press("Escape")
                if not await self._is_still_waiting():
                    break
            if not before:
                self._returned_prompt = await self._until(bool, TAKEN_SECONDS) or ""

    async def _is_still_waiting(self) -> bool:
        """True if its dialog stays open: one that has just opened ignores keys."""
        await self._until(lambda _: self._status() != WAITING, DIALOG_SECONDS)
        return self._status() == WAITING

    async def _clear(self, shown: str | None) -> str | None:
        """Clear the returned prompt, one row per key; returns the text that is left."""
        self._returned_prompt = ""
        for _ in range(2 * (shown or "").count("\n") + 2):
            await self._press("C-u")
            shown = await self._until(partial(ne, shown), TAKEN_SECONDS)
            if not shown:
                break
        return shown

    async def _press(self, key: str) -> None:
        await self._check()
        await self._server.execute(("send-keys", "-t", self._pane, key))

    async def _until(self, condition: Callable[[str | None], bool], seconds: float) -> str | None:
        """The composer's text once it meets the condition, or when the time is over."""
        until = time.monotonic() + seconds
        while True:
            shown = await self._composer_text()
            if condition(shown) or time.monotonic() > until:
                return shown
            await asyncio.sleep(POLL_SECONDS)

    async def _composer_text(self) -> str | None:
        """The composer's text; None if there is no composer."""
        pane = ("-p", "-t", self._pane)
        output = await self._server.execute(
            ("display-message", *pane, "#{pane_in_mode}"), ("capture-pane", "-e", *pane)
        )
        in_mode, _, screen = output.partition("\n")
        if in_mode != "0":
            raise Refused("the session's tmux pane is in copy mode; press q there, then send again")
        shown = self._agent.composer_text(screen)
        self._has_drawn = self._has_drawn or shown is not None
        return shown

    async def _paste(self, text: str) -> None:
        await self._check()
        self._count += 1
        buffer = f"quarterdeck-{self._pane.removeprefix('%')}-{self._count}"
        await self._server.execute(
            ("load-buffer", "-b", buffer, "-"),
            ("paste-buffer", "-p", "-d", "-b", buffer, "-t", self._pane),
            stdin=text.encode(),
        )

    async def _submit(self, text: str) -> None:
        """Press Enter once the composer shows the text and nothing else, and again only while it still does."""

        def is_shown(shown: str | None) -> bool:
            if self._is_exact:
                return bool(shown) and _visible(shown or "") == _visible(text)
            return bool(shown) and self._agent.shows_only(shown or "", text)

        shown = await self._until(is_shown, SHOWN_SECONDS)
        if not is_shown(shown) and self._is_exact and shown and self._agent.is_folded(shown):
            await self._clear(shown)
            raise Refused("the prompt is so long that the terminal shows it folded; paste it there yourself")
        if not is_shown(shown):
            raise Refused(
                "the prompt was typed, but the session's terminal shows other text too; attach to it and check"
            )
        for _ in range(TRIES):
            await self._press("Enter")
            if await self._is_taken(is_shown):
                return
        raise Refused("the prompt is in the session's terminal, but Enter does not send it; attach to it and check")

    async def _is_taken(self, is_shown: Callable[[str | None], bool]) -> bool:
        """True if the text has gone. If the pane cannot be read any more, Enter has ended the agent."""
        try:
            return not is_shown(await self._until(lambda shown: not is_shown(shown), TAKEN_SECONDS))
        except Refused:
            return True


def _visible(text: str) -> str:
    """The characters without blanks: a terminal breaks lines where it likes."""
    return "".join(text.split())
