"""Lines instead of a screen: what comes is said in sentences, and orders are typed; for screen readers and dumb
terminals."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from quarterdeck import __version__
from quarterdeck.core.text import one_line
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.tui import card
from quarterdeck.surfaces.tui.lines import Line, fold, plain
from quarterdeck.surfaces.tui.model import Asked, Model
from quarterdeck.surfaces.tui.talk import Talk
from quarterdeck.surfaces.words import about, delivery, lasting, outcome, state_word

WIDTH = 100
FEW = 20
"""Lines of an input that are said at once; a longer one is said by `show`, and must be before it is decided."""
HELP = """Requests are numbered as they come; a number is never used again. Orders:
  list                 who waits
  show N               everything about request N
  allow N              let it run
  deny N WORDS         refuse; the agent reads the words
  interrupt N WORDS    refuse, and stop its turn
  answer N JSON        answer a question: {"question": "answer"}
  remember N SCOPE     allow, and from now on: session, project or user
  pass N               leave it to the agent's own terminal
  sessions             who works
  quit                 leave; the daemon stays"""


class Plain:
    """One surface that speaks in lines. `say` prints one."""

    def __init__(self, talk: Talk, say: Callable[[str], None]) -> None:
        self.talk = talk
        self.model = Model(__version__)
        self._say = say
        self._numbers: dict[int, Asked] = {}
        self._said: dict[str, str] = {}
        self._trouble = ""
        self._orders: dict[str, Callable[[str], Awaitable[None]]] = {
            "list": self._list,
            "show": self._show,
            "sessions": self._sessions,
            "help": self._help,
            **{word: self._deciding(word) for word in ("allow", "deny", "interrupt", "answer", "remember", "pass")},
        }

    async def follow(self) -> None:
        """Hear the daemon until it will not have us."""
        try:
            async for said in self.talk.live.follow():
                self.model.hear(said, time.monotonic())
                self.model.take_events(len(self.model.events))
                self.tell()
        except Refused as error:
            self.model.refused(str(error))
            self.tell()

    def tell(self) -> None:
        """Say what is new: trouble, requests that came, and what became of those that are over."""
        trouble = self.model.trouble(time.monotonic())
        if trouble != self._trouble:
            self._trouble = trouble
            self._say(trouble or "Connected.")
        for asked in self.model.desk:
            self._tell_request(asked)
        for view in self.model.decided:
            self._tell_end(view)

    def _tell_request(self, asked: Asked) -> None:
        key = asked.request_id
        if asked.is_pending and key not in self._said and self.model.session_of(asked.view):
            number = len(self._numbers) + 1
            self._numbers[number] = asked
            self._said[key] = f"Request {number}"
            for words in self._announce(number, asked):
                self._say(words)
        elif not asked.is_pending and asked.over_at is not None:
            asked.over_at = None
            self._say(f"{self._said.get(key, 'A request')} is over: {outcome(asked.view)}")

    def _announce(self, number: int, asked: Asked) -> Iterator[str]:
        head = plain(fold(self._head(asked.shown), WIDTH))
        yield f"Request {number}: {head}"
        rows = list(fold(card.body(asked.shown), WIDTH))
        asked.overflow = f"{len(rows)} lines" if len(rows) > FEW else ""
        yield plain(rows[:FEW])
        if asked.hides:
            yield f"Not all of it shows ({', '.join(asked.hides)}): show {number}"
        yield plain(fold(card.tail(asked.shown), WIDTH))

    def _head(self, view: dict[str, Any]) -> list[Line]:
        return card.head(view, self.model.session_of(view), time.time(), self.model.name_of(view["session_id"]))

    def _tell_end(self, view: dict[str, Any]) -> None:
        became = delivery(view)
        key = f"{view['request_id']} {became}"
        if became and key not in self._said:
            self._said[key] = became
            self._say(f"{self._said.get(view['request_id'], about(view))}: {outcome(view)}, {became}")

    async def order(self, text: str) -> bool:
        """Do what was typed; False ends it."""
        word, _, rest = text.strip().partition(" ")
        if word in ("quit", "exit", "q"):
            return False
        do = self._orders.get(word)
        if do is None:
            self._say(f"No such order: {one_line(word)}; help lists them" if word else "help lists the orders")
        else:
            await do(rest.strip())
        return True

    async def _help(self, rest: str) -> None:
        self._say(HELP)

    async def _list(self, rest: str) -> None:
        waiting = [(number, asked) for number, asked in self._numbers.items() if asked.is_pending]
        standing = self.model.standing
        if not waiting and not standing:
            self._say("Nobody waits for you.")
        for session in standing:
            name = self.model.name_of(session["session_id"])
            self._say(one_line(f"{name} waits at its own terminal, in {session['cwd']}"))
        for number, asked in waiting:
            self._say(f"{number}: {one_line(about(asked.view, 80))} {card.risk_mark(asked.view)}".rstrip())

    async def _sessions(self, rest: str) -> None:
        sessions = self.model.shown_sessions()
        if not sessions:
            self._say("No session is live. qd install connects Claude Code; qd demo plays one.")
        for session in sessions:
            since = lasting(max(0.0, time.time() - (session["state_at"] or session["last_event_at"])))
            who, state = self.model.name_of(session["session_id"]), state_word(session["agent_state"]).word
            self._say(one_line(f"{who}: {state} for {since}. {session['title']}"))

    def _numbered(self, rest: str) -> tuple[Asked | None, str]:
        first, _, more = rest.partition(" ")
        asked = self._numbers.get(int(first)) if first.isdigit() and len(first) < 9 else None
        if asked is None:
            self._say("Name a request by its number; list names them")
        return asked, more.strip()

    async def _show(self, rest: str) -> None:
        asked, _ = self._numbered(rest)
        if asked is None:
            return
        try:
            whole = await self.talk.request(asked.request_id)
        except QuarterdeckError as error:
            self._say(f"It cannot be shown: {one_line(str(error))}")
            return
        if whole["digest"] != asked.view["digest"]:
            return
        asked.whole = whole
        for words in (self._head(whole), card.body(whole), card.tail(whole)):
            self._say(plain(fold(words, WIDTH)))
        asked.seen = True

    def _deciding(self, word: str) -> Callable[[str], Awaitable[None]]:
        async def decide(rest: str) -> None:
            asked, more = self._numbered(rest)
            if asked is None:
                return
            why = self.model.why_not(asked, time.monotonic(), 0.0, True, verb=word)
            body = _body(word, more)
            if why or isinstance(body, str):
                self._say(f"Not decided: {one_line(why or str(body))}")
                return
            try:
                await self.talk.decide(asked.view, **body)
            except QuarterdeckError as error:
                self._say(f"Not decided: {one_line(str(error))}")
            else:
                asked.over_at = None
                self.model.let_go(asked.request_id)

        return decide


def _body(word: str, more: str) -> dict[str, Any] | str:
    """The decision an order means; or why it means none, in words."""
    match word:
        case "deny" | "interrupt":
            return {"decision": "deny", "message": more or None, "interrupt": word == "interrupt" or None}
        case "remember":
            if more not in ("session", "project", "user"):
                return "say where to remember it: session, project or user"
            return {"decision": "allow", "remember": {"scope": more}}
        case "answer":
            try:
                answers = json.loads(more)
            except ValueError:
                return 'the answers are JSON, like {"Which one?": "this one"}'
            return (
                {"decision": "answer", "answers": answers} if isinstance(answers, dict) else "a JSON object is needed"
            )
        case _:
            return {"decision": word}


async def serve(talk: Talk, typed: TextIO, say: Callable[[str], None]) -> None:
    """Follow and obey until there is nothing more to read."""
    face = Plain(talk, say)
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError, ValueError):  # the loop has ended, or what is read is closed
            for text in typed:
                loop.call_soon_threadsafe(lines.put_nowait, text)
            loop.call_soon_threadsafe(lines.put_nowait, "quit")

    threading.Thread(target=read, daemon=True).start()
    following = asyncio.create_task(face.follow())
    try:
        while await face.order(await lines.get()):
            pass
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following


def run(home: Path) -> None:
    """Until the person quits."""
    say = _printer(sys.stdout)
    say("Quarterdeck, in lines. help lists the orders.")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(Talk(home), sys.stdin, say))


def _printer(out: TextIO) -> Callable[[str], None]:
    def say(words: str) -> None:
        out.write(words + "\n")
        out.flush()

    return say
