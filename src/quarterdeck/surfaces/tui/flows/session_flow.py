"""The flow of a session command: open the dialog it needs, if any, run it, and report how it ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.view_reader import read_view
from quarterdeck.surfaces.terminal.actions.stop_actions import plan_stop, stop_sessions
from quarterdeck.surfaces.terminal.actions.worktree_actions import discard_worktree, merge_worktree
from quarterdeck.surfaces.terminal.session_actions import blocked_reason, session_label, session_path
from quarterdeck.surfaces.tui.dialogs.manage.command_dialog import CommandDialog
from quarterdeck.surfaces.tui.dialogs.manage.session import ContinueDialog, PromptDialog, SwitchDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.stop_dialog import StopDialog
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from quarterdeck.surfaces.tui.terminal_handover import attach_terminal
from quarterdeck.views.resources.session_view import SessionView

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]


class SessionFlow:
    """Runs session commands as the person at this terminal."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._handlers: dict[str, Callable[[SessionView, str], Awaitable[object]]] = {
            "write": self._write,
            "terminal": lambda session, words: attach_terminal(app, session),
            "resume": partial(self._continue, "resume"),
            "takeover": partial(self._continue, "takeover"),
            "interrupt": self._interrupt,
            "end": self._end,
            "fork": partial(self._continue, "fork"),
            "switch": self._switch,
            "diff": self._diff,
            "merge": lambda session, words: merge_worktree(app, session),
            "discard": lambda session, words: discard_worktree(app, session),
        }

    async def run(self, verb: str, session: SessionView | None, words: str = "") -> None:
        """Run a command on exactly this session."""
        if (why := blocked_reason(verb, session)) or session is None:
            self._app.say(why[:1].upper() + why[1:], "warning")
        else:
            await self._handlers[verb](session, words)

    async def start(self, folder: str) -> bool:
        """Start a session and go to it. True if one was started."""
        started = await self._open(StartDialog(folder))
        self._show_started(started)
        return started is not None

    async def _open(self, dialog: CommandDialog) -> Json | None:
        return await self._app.push_screen_wait(dialog)

    def _show_started(self, started: Json | None) -> None:
        if started is not None:
            app, session = self._app, read_view(SessionView, started)
            app.model.add_sessions([started])
            app.say(f"Started {session_label(session)} ({session.mode})")
            app.main_screen.go_to_session(session.session_id)

    async def _write(self, session: SessionView, words: str) -> None:
        if words:
            await self._post(session, "messages", {"prompt": words}, f"Sent to {session_label(session)}")
        elif await self._open(PromptDialog(session)):
            self._app.say(f"Sent to {session_label(session)}")

    async def _interrupt(self, session: SessionView, words: str) -> None:
        await self._post(session, "interrupt", {}, f"Interrupted {session_label(session)}")

    async def _end(self, session: SessionView, words: str) -> None:
        question = f"End {session_label(session)} and everything it started?"
        if await self._app.is_sure(question):
            await self._post(session, "end", {}, f"Ending {session_label(session)}")

    async def stop_all(self) -> None:
        """Stop everything that the person confirms: exactly the sessions that the dialog lists."""
        try:
            plan = await plan_stop(self._app.daemon)
            words = await self._app.push_screen_wait(StopDialog(plan))
            if words is not None:
                self._app.say(await stop_sessions(self._app.daemon, plan[words.route], words))
        except QuarterdeckError as error:
            self._app.say(str(error), "error")

    async def _continue(self, action: str, session: SessionView, words: str) -> None:
        self._show_started(await self._open(ContinueDialog(session, action, words)))

    async def _switch(self, session: SessionView, words: str) -> None:
        if await self._open(SwitchDialog(session)):
            self._app.say(f"Changed: {session_label(session)}")

    async def _diff(self, session: SessionView, words: str) -> None:
        self._app.push_screen(WorktreePage(session))

    async def _post(self, session: SessionView, route: str, body: Json, done: str) -> None:
        try:
            await self._app.daemon.long_call("POST", f"{session_path(session)}/{route}", body)
        except QuarterdeckError as error:
            self._app.say(str(error), "error")
        else:
            self._app.say(done)
