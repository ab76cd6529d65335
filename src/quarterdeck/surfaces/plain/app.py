"""One surface that speaks in lines: follows the daemon, says what is new, and does what is typed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager

from textual.notifications import SeverityLevel

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.connection import Talk, aside
from quarterdeck.surfaces.client.live import Connected, Lost, Message
from quarterdeck.surfaces.plain.announcements import WIDTH, Herald
from quarterdeck.surfaces.plain.command_help import help_lines, meant
from quarterdeck.surfaces.plain.feed import Feed
from quarterdeck.surfaces.plain.request_numbers import Numbers
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import Line, fold, plain

STATS_SECONDS = 3.0
ROWS_AT_ONCE = 200
YES = ("yes", "y")
Do = Callable[[str], Awaitable[None]]


class Left(Exception):
    """The person leaves what was asked."""


class Plain:
    """`type_line` gives the next line that is typed, None after the last; `speak` prints one, `ring` rings the bell."""

    def __init__(
        self,
        talk: Talk,
        type_line: Callable[[], Awaitable[str | None]],
        speak: Callable[[str], None],
        ring: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.talk = talk
        self.model = Model(__version__)
        self.numbers = Numbers()
        self.feed = Feed(self)
        self.clock = clock
        self.rings = True
        self.edits = False
        """Whether the terminal can be handed to an editor."""
        self._type_line = type_line
        self._speak = speak
        self._is_quiet = False
        self._is_listed = False
        self.heard = asyncio.Event()
        """Set once it is known how things stand, or that nobody can tell."""
        self.herald = Herald(self.model, self.numbers, speak, lambda: ring() if self.rings else None)
        self._orders: dict[str, Do] = {"help": self._help, "bell": self._bell}

    def take(self, orders: dict[str, Do]) -> None:
        """Obey these, too."""
        self._orders |= orders

    @property
    def orders(self) -> frozenset[str]:
        return frozenset(self._orders)

    async def follow(self) -> None:
        """Hear the daemon until it will not have us."""
        try:
            async with aclosing(self.talk.live.follow()) as following:
                async for said in following:
                    self.hear(said)
        except Refused as error:
            self.model.refused(str(error))
            self.tell()
            self.heard.set()

    def hear(self, said: Connected | Lost | Message) -> None:
        """Take in one thing the daemon, or the way to it, said."""
        self.model.hear(said, self.clock())
        self.feed.hear(self.model.take_events(len(self.model.events)))
        self.tell()
        if self.model.is_told or self.model.link == "lost":
            self.heard.set()

    async def measure(self) -> None:
        """Look after the daemon, again and again."""
        while True:
            await self.look()
            await asyncio.sleep(STATS_SECONDS)

    async def look(self) -> None:
        """Whether the daemon still answers, how what is over ended, and which sessions there were before."""
        try:
            self.model.measured(await self.talk.get("/stats"), self.clock())
            if not self._is_listed:
                self.model.listed((await self.talk.get("/sessions", limit=200))["sessions"])
                self._is_listed = True
        except QuarterdeckError:
            pass
        for asked in [one for one in self.model.desk if one.is_unexplained and not one.looked_after]:
            await self._look_after(asked.request_id)
            asked.looked_after = True
        self.tell()
        self.model.forget_over(self.clock())

    async def _look_after(self, request_id: str) -> None:
        try:
            found = await self.talk.request(request_id)
        except QuarterdeckError:
            return
        if found["status"] != "pending":
            self.model.learned(found, self.clock())

    def tell(self) -> None:
        """Say what is new, unless something is being read out."""
        if not self._is_quiet:
            self.feed.tell()
            self.herald.tell(self.clock(), time.time())

    def dirty(self) -> None:
        """What is new is said as it is heard."""

    def say(self, words: str, severity: SeverityLevel = "information") -> None:
        """One line, made harmless."""
        self._speak(one_line(words))

    async def read_out(self, lines: Iterable[Line]) -> None:
        """All of these, to the end, with nothing between them."""
        with self.quiet():
            rows = await aside(lambda: list(fold(lines, WIDTH)))
            for start in range(0, len(rows), ROWS_AT_ONCE):
                self._speak(plain(rows[start : start + ROWS_AT_ONCE]))
                await asyncio.sleep(0)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """What is new waits meanwhile, and is said after."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False
            self.tell()

    async def ask(self, question: str) -> str:
        """What the person answers; leaves when they do."""
        self.say(question)
        typed = await self._type_line()
        if typed is None or typed.strip() == "cancel":
            raise Left
        return typed.strip()

    async def is_sure(self, question: str) -> bool:
        """Whether the person says yes, and nothing else, to exactly this."""
        return (await self.ask(f"{question} yes or no?")).lower() in YES

    async def obey(self) -> None:
        """Everything that is typed, until the person leaves."""
        while (typed := await self._type_line()) is not None:
            if not await self.order(typed):
                return

    async def order(self, text: str) -> bool:
        """Do what was typed; False ends it."""
        word, _, rest = text.strip().partition(" ")
        if word in ("quit", "exit"):
            return False
        name, why = meant(word)
        if why:
            self.say(why)
            return True
        try:
            await self._orders[name](rest.strip())
        except Left:
            self.say("Left; nothing was done.")
        except QuarterdeckError as error:
            self.say(f"Not done: {error}")
        return True

    async def _help(self, rest: str) -> None:
        for words in help_lines(rest):
            self.say(words)

    async def _bell(self, rest: str) -> None:
        if rest in ("on", "off"):
            self.rings = rest == "on"
            self.say(f"The bell is {rest}")
        else:
            self.say("bell on, or bell off")
