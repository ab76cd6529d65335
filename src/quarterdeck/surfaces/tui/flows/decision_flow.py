"""The flow of a decision: open the dialog it needs, if any, then send it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from quarterdeck.surfaces.client.connection import run_in_thread
from quarterdeck.surfaces.terminal.actions.send_decision import send_decision, send_decisions
from quarterdeck.surfaces.terminal.forms.tool_input import allow_decision, editable_text
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.dialogs.decisions.answer import AnswerDialog
from quarterdeck.surfaces.tui.dialogs.decisions.batch import BatchDialog
from quarterdeck.surfaces.tui.dialogs.decisions.edit import EditDialog
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from quarterdeck.surfaces.tui.dialogs.decisions.message import MessageDialog
from quarterdeck.surfaces.tui.dialogs.decisions.plan import PlanDialog
from quarterdeck.surfaces.tui.dialogs.decisions.remember import RememberDialog

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.app import QuarterdeckApp

Body = dict[str, Any]


FIXED: dict[str, Body] = {"allow": {"decision": "allow"}, "pass": {"decision": "pass"}}
"""Decisions that need nothing more."""

WITH_MESSAGE: dict[str, tuple[str, str, Body]] = {
    "deny": ("Deny", "A message for the agent; Enter denies", {"decision": "deny"}),
    "interrupt": (
        "Deny and interrupt",
        "A message for the agent; Enter stops its turn",
        {"decision": "deny", "interrupt": True},
    ),
    "go_on": ("Make it go on", "What should it do? Enter sends", {"decision": "block"}),
}
"""Decisions that a message goes with: the title and the hint of its dialog, and the decision."""


class DecisionFlow:
    """Decides as the person at this terminal."""

    def __init__(self, app: QuarterdeckApp) -> None:
        self._app = app
        self._handlers: dict[str, Callable[[RequestItem, str], Awaitable[Body | None]]] = {
            "approve": self._approve,
            "edit": self._edit,
            "remember": self._remember,
            "answer": self._answer,
        }

    async def run(self, verb: str, item: RequestItem, message: str = "") -> None:
        """Ask for what else is needed, then decide exactly this request."""
        body = await self._body(verb, item, message)
        if body is None:
            return
        if why := self._app.model.disabled_reason(item, time.monotonic()):
            self._app.say(f"Nothing was sent: {why}", "warning")
            return
        await send_decision(self._app, item, body)

    async def _body(self, verb: str, item: RequestItem, message: str) -> Body | None:
        if verb in FIXED:
            return FIXED[verb]
        if verb not in WITH_MESSAGE:
            return await self._handlers[verb](item, message)
        title, hint, body = WITH_MESSAGE[verb]
        words: str | None = message
        if not message:
            words = await self._app.push_screen_wait(MessageDialog(item, title, hint))
        return None if words is None else {**body, "message": words or None}

    async def _approve(self, item: RequestItem, message: str) -> Body | None:
        mode = await self._app.push_screen_wait(PlanDialog(item, message))
        return None if mode is None else {"decision": "allow", "mode": mode.value}

    async def _edit(self, item: RequestItem, message: str) -> Body | None:
        tool_input = item.shown["tool_input"]
        text = await run_in_thread(lambda: editable_text(tool_input))
        edited = await self._app.push_screen_wait(EditDialog(item, text))
        return None if edited is None else await run_in_thread(lambda: allow_decision(tool_input, edited))

    async def _remember(self, item: RequestItem, message: str) -> Body | None:
        session = self._app.model.session_of(item.view)
        return await self._app.push_screen_wait(RememberDialog(item, session.cwd if session else ""))

    async def _answer(self, item: RequestItem, message: str) -> Body | None:
        if item.view["form"] == "elicitation":
            content = await self._app.push_screen_wait(FormDialog(item))
            return None if content is None else {"decision": "answer", "answers": content}
        answers = await self._app.push_screen_wait(AnswerDialog(item, message))
        return None if answers is None else {"decision": "answer", **answers}

    async def batch(self) -> None:
        """Decide several requests, each named in a preview and sent with its own id and digest."""
        chosen = await self._app.push_screen_wait(BatchDialog(self._app.model))
        if chosen is not None:
            await send_decisions(self._app, *chosen)
