"""Orders that decide: each names a request by its number, and nothing is let through that was not read out whole."""

from __future__ import annotations

import time
from typing import Any

from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.client.connection import aside
from quarterdeck.surfaces.plain.announcements import standing_words
from quarterdeck.surfaces.plain.answer import Answering
from quarterdeck.surfaces.plain.app import Do, Plain
from quarterdeck.surfaces.plain.remember import remembered
from quarterdeck.surfaces.plain.request_numbers import Numbered
from quarterdeck.surfaces.terminal import request_card as card
from quarterdeck.surfaces.terminal.model import REFUSING, Asked
from quarterdeck.surfaces.terminal.send_decision import send, send_many
from quarterdeck.surfaces.text.labels import about
from quarterdeck.surfaces.tui.dialogs.decisions.edit import allowing, edited, field_of, read_back, written
from quarterdeck.surfaces.tui.dialogs.decisions.plan import MODES

Json = dict[str, Any]
VERBS = ("allow", "edit", "approve", "deny", "interrupt", "answer", "go-on", "remember", "pass")
SEVERAL = ("allow", "deny", "pass")
"""Orders that may name several requests."""


class Deciding:
    """Decides in the name of the person who types."""

    def __init__(self, face: Plain) -> None:
        self._face = face
        self._answering = Answering(face)

    @property
    def orders(self) -> dict[str, Do]:
        return {"list": self._list, "show": self._show, **{verb: self._order(verb) for verb in VERBS}}

    async def _list(self, rest: str) -> None:
        model, waiting = self._face.model, self._face.numbers.waiting
        if not waiting and not model.standing:
            self._face.say("Nobody waits for you." if model.is_told else "Not connected to the daemon yet.")
        for one in waiting:
            who, risk = model.name_of(one.asked.view["session_id"]), card.risk_mark(one.asked.view)
            self._face.say(f"{one.number}: {who}: {about(one.asked.view, 80)} {risk}".rstrip())
        for session in model.standing:
            self._face.say(standing_words(session, str(model.name_of(session["session_id"]))))

    async def _show(self, rest: str) -> None:
        for one in self._named(rest):
            await self._read_out(one.asked, one.number)

    def _named(self, text: str) -> list[Numbered]:
        found = self._face.numbers.named(text)
        if isinstance(found, str):
            self._face.say(found[:1].upper() + found[1:])
            return []
        return found

    async def _read_out(self, asked: Asked, number: int) -> None:
        """Everything about a request, to its end; only then has all of it been read out."""
        face = self._face
        try:
            whole = await face.talk.request(asked.request_id)
        except QuarterdeckError as error:
            face.say(f"It cannot be shown: {error}")
            return
        if not asked.take_whole(whole) or whole["truncated"] is not None:
            face.say(f"Request {number} is not what it was: list names those that wait")
            return
        lines = await aside(lambda: [*card.body(whole), *card.tail(whole, asked.why)])
        face.say(f"Request {number}: {face.herald.head(asked, time.time())}")
        await face.read_out(lines)
        asked.seen = True
        face.say(f"End of request {number}.")

    def why_not(self, one: Numbered, verb: str) -> str:
        """Why this decision may not be made now, in words; empty when it may."""
        fitting = card.decisions_for(one.asked.view)
        if why := self._face.model.why_not(one.asked, self._face.clock(), one.said_at, True, verb="deny"):
            return why
        if verb not in fitting:
            return f"it takes {', '.join(fitting).replace('_', '-')}"
        if verb not in REFUSING and one.asked.hides:
            return f"not all of it was read out ({', '.join(one.asked.hides)}): show {one.number} first"
        return ""

    def _order(self, name: str) -> Do:
        verb = name.replace("-", "_")

        async def decide(rest: str) -> None:
            numbers, _, words = rest.partition(" ")
            if name == "interrupt" and numbers and not numbers[0].isdigit():
                self._face.say("interrupt names a request by its number; a session is stopped by stop-turn")
                return
            found = self._named(numbers)
            if len(found) > 1 and name not in SEVERAL:
                self._face.say(f"{name} is about one request; name it by its number")
                return
            may = [one for one in found if not self._is_refused(one, verb)]
            if len(may) == 1:
                await self._decide(may[0], verb, words.strip())
            elif may:
                more = {"message": words.strip()} if words.strip() and verb == "deny" else {}
                await send_many(self._face, verb, [one.asked for one in may], **more)

        return decide

    def _is_refused(self, one: Numbered, verb: str) -> bool:
        why = self.why_not(one, verb)
        if why:
            self._face.say(f"Request {one.number} is not decided: {why}")
        return bool(why)

    async def _decide(self, one: Numbered, verb: str, words: str) -> None:
        """Ask what else is needed, then decide about exactly this request, if that may still be done."""
        body = await self._body(one.asked, verb, words)
        if body is not None and not self._is_refused(one, verb):
            await send(self._face, one.asked, body)

    async def _body(self, asked: Asked, verb: str, words: str) -> Json | None:
        match verb:
            case "deny" | "interrupt":
                return {"decision": "deny", "message": words or None, "interrupt": verb == "interrupt" or None}
            case "go_on":
                return {"decision": "block", "message": words or await self._face.ask("What shall it do?") or None}
            case "approve":
                return await self._approved(words)
            case "edit":
                return await self._edited(asked, words)
            case "remember":
                return await remembered(self._face, asked, words)
            case "answer":
                return await self._answering.answered(asked, words)
            case _:
                return {"decision": verb}

    async def _approved(self, words: str) -> Json | None:
        """A plan, and how the agent works on it."""
        modes = list(MODES)
        if not words:
            for number, (does, more) in enumerate(MODES.values(), 1):
                self._face.say(f"{number}: {does}; {more}")
            words = await self._face.ask("The agent then works how? A number approves the plan.")
        known = {str(number): mode for number, mode in enumerate(modes, 1)} | {mode.value: mode for mode in PlanMode}
        if words not in known:
            self._face.say(f"Nothing was decided: the modes are 1 to {len(modes)}")
            return None
        return {"decision": "allow", "mode": known[words].value}

    async def _edited(self, asked: Asked, words: str) -> Json | None:
        """Another input, read back before it is allowed."""
        tool_input = asked.shown["tool_input"]
        try:
            found = _typed(words, tool_input) if words else await self._written(tool_input)
        except (OSError, ValueError) as error:
            found = f"the editor did not start: {error}"
        if isinstance(found, str):
            self._face.say(f"Nothing was decided: {found}")
            return None
        view = {**asked.shown, "tool_input": found, "diff": None, "change": None}
        self._face.say("It would run as:")
        await self._face.read_out(card.body(view))
        return allowing(tool_input, found) if await self._face.is_sure("Allow exactly this?") else None

    async def _written(self, tool_input: Json) -> Json | str:
        """What the person's editor makes of an input; without a terminal, what is typed."""
        if self._face.edits:
            with self._face.quiet():
                suffix = "json" if field_of(tool_input) is None else "sh"
                return read_back(await aside(lambda: edited(written(tool_input), suffix)), tool_input)
        return _typed(await self._face.ask("Type the command, or the whole input as a JSON object."), tool_input)


def _typed(text: str, tool_input: Json) -> Json | str:
    """The input that a line means: the whole of it as a JSON object, or the command."""
    return read_back(text, {} if text.startswith("{") else tool_input)
