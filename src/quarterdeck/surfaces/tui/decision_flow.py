"""What follows when a person decides: what more must be asked, the order itself, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from textual.notifications import SeverityLevel

from quarterdeck.core.text.sanitize import one_line
from quarterdeck.surfaces.client.connection import aside
from quarterdeck.surfaces.terminal.model import Asked
from quarterdeck.surfaces.terminal.send_decision import send, send_many
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog, allowing, written
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import WordsDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Json = dict[str, Any]
Body = dict[str, Any]


class Deciding:
    """Decides in the name of the person at this terminal."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._ask: dict[str, Callable[[Asked, str], Awaitable[Body | None]]] = {
            "allow": self._allow,
            "approve": self._approve,
            "pass": self._pass,
            "deny": self._deny,
            "interrupt": self._interrupt,
            "go_on": self._go_on,
            "edit": self._edit,
            "remember": self._remember,
            "answer": self._answer,
        }

    async def run(self, verb: str, asked: Asked, message: str = "") -> None:
        """Ask what else is needed, then decide about exactly this request."""
        body = await self._ask[verb](asked, message)
        if body is None:
            return
        if why := self._app.model.why_off(asked, time.monotonic()):
            self._say(f"Nothing was sent: {why}", "warning")
            return
        await send(self._app, asked, body)

    def _say(self, words: str, severity: SeverityLevel = "information") -> None:
        self._app.say(one_line(words), severity)

    async def _allow(self, asked: Asked, message: str) -> Body:
        return {"decision": "allow"}

    async def _approve(self, asked: Asked, message: str) -> Body | None:
        mode = await self._app.push_screen_wait(PlanDialog(asked, message))
        return None if mode is None else {"decision": "allow", "mode": mode.value}

    async def _pass(self, asked: Asked, message: str) -> Body:
        return {"decision": "pass"}

    async def _deny(self, asked: Asked, message: str) -> Body | None:
        words = message or await self._words(asked, "Deny", "What shall the agent read? Enter denies")
        return None if words is None else {"decision": "deny", "message": words or None}

    async def _interrupt(self, asked: Asked, message: str) -> Body | None:
        words = message or await self._words(asked, "Deny and interrupt", "What shall it read? Enter stops its turn")
        return None if words is None else {"decision": "deny", "message": words or None, "interrupt": True}

    async def _go_on(self, asked: Asked, message: str) -> Body | None:
        words = message or await self._words(asked, "Make it go on", "What shall it do? Enter sends")
        return None if words is None else {"decision": "block", "message": words or None}

    async def _words(self, asked: Asked, title: str, hint: str) -> str | None:
        return await self._app.push_screen_wait(WordsDialog(asked, title, hint))

    async def _edit(self, asked: Asked, message: str) -> Body | None:
        tool_input = asked.shown["tool_input"]
        text = await aside(lambda: written(tool_input))
        edited = await self._app.push_screen_wait(EditDialog(asked, text))
        return None if edited is None else await aside(lambda: allowing(tool_input, edited))

    async def _remember(self, asked: Asked, message: str) -> Body | None:
        session = self._app.model.session_of(asked.view) or {}
        return await self._app.push_screen_wait(RememberDialog(asked, self._app.talk, str(session.get("cwd", ""))))

    async def _answer(self, asked: Asked, message: str) -> Body | None:
        if asked.view["form"] == "elicitation":
            content = await self._app.push_screen_wait(FormDialog(asked))
            return None if content is None else {"decision": "answer", "answers": content}
        told = await self._app.push_screen_wait(AnswerDialog(asked, message))
        return None if told is None else {"decision": "answer", **told}

    async def batch(self) -> None:
        """Decide several requests, each named in a preview and sent with its own id and digest."""
        app = self._app
        chosen = await app.push_screen_wait(BatchDialog(app.model))
        if chosen is None:
            return
        word, several = chosen
        await send_many(app, word, several)
