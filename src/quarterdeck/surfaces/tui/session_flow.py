"""What follows when a person orders something of a session: what more must be asked, the order, and how it ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.session_actions import called, why_not
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import OrderDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import GoOnDialog, SwitchDialog, WriteDialog, path_of
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage, discard, merge

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]


class Steering:
    """Orders in the name of the person at this terminal."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._do: dict[str, Callable[[Json, str], Awaitable[None]]] = {
            "write": self._write,
            "terminal": self._terminal,
            "resume": self._resume,
            "takeover": self._takeover,
            "interrupt": self._interrupt,
            "end": self._end,
            "fork": self._fork,
            "switch": self._switch,
            "diff": self._diff,
            "merge": self._merge,
            "discard": self._discard,
        }

    async def run(self, verb: str, session: Json | None, words: str = "") -> None:
        """Order this of exactly this session."""
        if (why := why_not(verb, session)) or session is None:
            self._app.say(why[:1].upper() + why[1:], "warning")
        else:
            await self._do[verb](session, words)

    async def start(self, folder: str) -> bool:
        """Start a session, and look at it; whether one was started."""
        started = await self._asked(StartDialog(folder))
        self._look_at(started)
        return started is not None

    async def _asked(self, dialog: OrderDialog) -> Json | None:
        return await self._app.push_screen_wait(dialog)

    def _look_at(self, started: Json | None) -> None:
        if started is not None:
            app = self._app
            app.model.listed([started])
            app.say(f"Started {called(started)} ({started['mode']})")
            app.bridge.look_at(started["session_id"])

    async def _write(self, session: Json, words: str) -> None:
        if words:
            await self._order(session, "messages", {"prompt": words}, f"Sent to {called(session)}")
        elif await self._asked(WriteDialog(session)):
            self._app.say(f"Sent to {called(session)}")

    async def _interrupt(self, session: Json, words: str) -> None:
        await self._order(session, "interrupt", {}, f"Interrupted {called(session)}")

    async def _end(self, session: Json, words: str) -> None:
        question = f"End {called(session)}, with everything it started?"
        if await self._app.is_sure(question):
            await self._order(session, "end", {}, f"Ending {called(session)}")

    async def _resume(self, session: Json, words: str) -> None:
        self._look_at(await self._asked(GoOnDialog(session, "resume", words)))

    async def _fork(self, session: Json, words: str) -> None:
        self._look_at(await self._asked(GoOnDialog(session, "fork", words)))

    async def _takeover(self, session: Json, words: str) -> None:
        self._look_at(await self._asked(GoOnDialog(session, "takeover", words)))

    async def _switch(self, session: Json, words: str) -> None:
        if await self._asked(SwitchDialog(session)):
            self._app.say(f"Changed: {called(session)}")

    async def _diff(self, session: Json, words: str) -> None:
        self._app.push_screen(WorktreePage(session))

    async def _merge(self, session: Json, words: str) -> None:
        await merge(self._app, session)

    async def _discard(self, session: Json, words: str) -> None:
        await discard(self._app, session)

    async def _terminal(self, session: Json, words: str) -> None:
        from quarterdeck.surfaces.tui.widgets.suspend import hand_over

        await hand_over(self._app, session)

    async def _order(self, session: Json, order: str, body: Json, done: str) -> None:
        try:
            await self._app.talk.slowly("POST", f"{path_of(session)}/{order}", body)
        except QuarterdeckError as error:
            self._app.say(str(error), "error")
        else:
            self._app.say(done)
