"""Orders about sessions: who works, and what each of them is told to do."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.plain.app import Do, Plain
from quarterdeck.surfaces.plain.start_session import Starting
from quarterdeck.surfaces.terminal.session_actions import MODES, ORDERS, PERMISSION_MODES, called, orders_for, why_not
from quarterdeck.surfaces.terminal.session_lookup import session_named
from quarterdeck.surfaces.terminal.worktree_lines import tree_lines
from quarterdeck.surfaces.text.labels import lasting, state_word
from quarterdeck.surfaces.tui.dialogs.manage.session import path_of
from quarterdeck.surfaces.tui.screens.workspace.worktree import discard, merge, read_tree

Json = dict[str, Any]
TODO = {"done": "done", "doing": "doing", "in_progress": "doing"}
LEFT_OUT = ("terminal",)
"""Orders that a screen is needed for."""


class Sessions:
    """Orders in the name of the person who types."""

    def __init__(self, face: Plain) -> None:
        self._face = face
        self._starting = Starting(face)
        self._do: dict[str, Callable[[Json, str], Awaitable[None]]] = {
            "write": self._write,
            "interrupt": self._interrupt,
            "end": self._end,
            "resume": self._resume,
            "fork": self._fork,
            "takeover": self._takeover,
            "switch": self._switch,
            "diff": self._diff,
            "merge": self._merge,
            "discard": self._discard,
        }

    @property
    def orders(self) -> dict[str, Do]:
        steering = {ORDERS[verb].command: self._steer(verb) for verb in self._do}
        more: dict[str, Do] = {"sessions": self._sessions, "tasks": self._tasks, "feed": self._face.feed.order}
        return {**steering, **more, "start": self._starting.start}

    async def _sessions(self, rest: str) -> None:
        face = self._face
        sessions = face.model.shown_sessions(ended=rest == "all")
        if not sessions:
            face.say("No session is live. qd install connects Claude Code; qd demo plays one.")
        for session in map(face.model.placed, sessions):
            since = lasting(max(0.0, time.time() - (session["state_at"] or session["last_event_at"])))
            state = state_word(session["agent_state"]).word
            takes = ", ".join(ORDERS[verb].command for verb in orders_for(session) if verb not in LEFT_OUT)
            told = f"{called(session)}: {state} for {since}. {session['title']}".rstrip(" .")
            face.say(f"{told}. {f'It takes: {takes}.' if takes else ''}".rstrip())

    async def _tasks(self, rest: str) -> None:
        found = [s for s in self._face.model.shown_sessions(ended=True) if s["todos"]]
        for session in found:
            self._face.say(f"{called(session)}:")
            for todo in session["todos"]:
                self._face.say(f"  {TODO.get(todo['status'], 'to do')}: {todo['text']}")
        if not found:
            self._face.say("No agent has made a list yet.")

    def _steer(self, verb: str) -> Do:
        async def steer(rest: str) -> None:
            name, _, words = rest.partition(" ")
            session = session_named(self._face.model, name)
            if isinstance(session, str):
                self._face.say(session)
            elif why := why_not(verb, session):
                self._face.say(why[:1].upper() + why[1:])
            else:
                await self._do[verb](session, words.strip())

        return steer

    async def _order(self, session: Json, order: str, body: Json, done: str) -> None:
        await self._face.talk.slowly("POST", f"{path_of(session)}/{order}", body)
        self._face.say(f"{done} {called(session)}")

    async def _write(self, session: Json, words: str) -> None:
        prompt = words or await self._face.ask(f"What is {called(session)} told?")
        if prompt:
            await self._order(session, "messages", {"prompt": prompt}, "Sent to")
        else:
            self._face.say("Nothing was sent.")

    async def _interrupt(self, session: Json, words: str) -> None:
        await self._order(session, "interrupt", {}, "Interrupted")

    async def _end(self, session: Json, words: str) -> None:
        if await self._face.is_sure(f"End {called(session)}, with everything it started?"):
            await self._order(session, "end", {}, "Ending")

    async def _resume(self, session: Json, words: str) -> None:
        await self._starting.post("/sessions", _going_on(session, words) | {"resume": session["session_id"]}, session)

    async def _fork(self, session: Json, words: str) -> None:
        await self._starting.post(f"{path_of(session)}/fork", _going_on(session, words), session)

    async def _takeover(self, session: Json, words: str) -> None:
        """A session that still runs where it was is refused; then a fork is offered."""
        try:
            await self._starting.post(f"{path_of(session)}/takeover", _going_on(session, words), session)
        except QuarterdeckError as error:
            if await self._face.is_sure(f"Not taken over: {error}. Fork it instead?"):
                await self._fork(session, words)

    async def _switch(self, session: Json, words: str) -> None:
        what, _, value = words.partition(" ")
        names = {"mode": "mode", "model": "model", "permissions": "permission_mode"}
        known = {"mode": MODES, "permissions": PERMISSION_MODES}.get(what)
        if what not in names or not value or (known and value not in known):
            self._face.say(f"mode {'|'.join(MODES)}, model NAME, or permissions {'|'.join(PERMISSION_MODES)}")
        else:
            await self._order(session, "mode", {names[what]: value}, "Changed")

    async def _diff(self, session: Json, words: str) -> None:
        tree, diff = await read_tree(self._face, session)
        await self._face.read_out(tree_lines(tree, diff))

    async def _merge(self, session: Json, words: str) -> None:
        await merge(self._face, session)

    async def _discard(self, session: Json, words: str) -> None:
        await discard(self._face, session)


def _going_on(session: Json, prompt: str) -> Json:
    """How a conversation goes on: in the mode it had, where it had one of ours."""
    mode = session["mode"] if session["mode"] in MODES else MODES[0]
    return {"mode": mode} | ({"prompt": prompt} if prompt else {})
