"""Plain mode: a surface of text lines. It follows the daemon, announces what is new and runs typed commands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

from msgspec import Struct
from textual.notifications import SeverityLevel

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.attention import Attention
from quarterdeck.surfaces.client.connection import DaemonConnection, run_in_thread
from quarterdeck.surfaces.client.live import Connected, LiveMessage, Lost
from quarterdeck.surfaces.plain.announcements import WIDTH, Announcer
from quarterdeck.surfaces.plain.command_help import CommandEnded, find_command
from quarterdeck.surfaces.plain.feed import PlainFeed
from quarterdeck.surfaces.plain.request_numbers import RequestNumbers
from quarterdeck.surfaces.terminal.actions.send_decision import fetch_outcome
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import StyledLine, fold, plain

Json = dict[str, Any]
STATS_SECONDS = 3.0
ROWS_AT_ONCE = 200
YES = ("yes", "y")
D = TypeVar("D", bound=Struct)


class PlainApp:
    """The app. `type_line` returns the next typed line, None after the last; `speak` prints one, `ring` rings."""

    def __init__(
        self,
        daemon: DaemonConnection,
        type_line: Callable[[], Awaitable[str | None]],
        speak: Callable[[str], None],
        ring: Callable[[], None],
        clock: Callable[[], float],
        commands: Mapping[str, Handler],
    ) -> None:
        self.daemon = daemon
        self.model = Model(__version__, daemon.way_to_start)
        self.numbers = RequestNumbers()
        self.clock = clock
        self.rings = True
        self.can_edit = False
        """True when the terminal can be handed to an editor."""
        self._type_line = type_line
        self._print = speak
        self.feed = PlainFeed(self.model, self.say)
        self._attention = Attention(clock())
        self._is_quiet = False
        self._is_listed = False
        self.is_ready = asyncio.Event()
        """Set once the current state has arrived, or the daemon turned out to be unreachable."""
        self.announcer = Announcer(self.model, self.numbers, speak, lambda: ring() if self.rings else None)
        self.rules: dict[str, Json] = {}
        """The rules that were listed, by id. Their places are their numbers, so none is used again for another rule."""
        self._commands = commands

    @property
    def command_names(self) -> frozenset[str]:
        return frozenset(self._commands)

    async def follow(self) -> None:
        """Receive the daemon's messages until it rejects this client."""
        try:
            async with aclosing(self.daemon.live.follow()) as messages:
                async for message in messages:
                    self.receive(message)
        except Refused as error:
            self.model.set_refused(str(error))
            self.announce()
            self.is_ready.set()

    def receive(self, message: Connected | Lost | LiveMessage) -> None:
        """Apply one message of the daemon, or a change of the connection to it."""
        self.model.receive(message, self.clock())
        self.feed.add(self.model.take_events(len(self.model.events)))
        self.announce()
        if self.model.has_snapshot or self.model.link == "lost":
            self.is_ready.set()

    async def poll_forever(self) -> None:
        """Poll the daemon every few seconds."""
        while True:
            await self.daemon.live.show(self._attention.is_visible(self.clock()))
            await self.poll()
            await asyncio.sleep(STATS_SECONDS)

    async def poll(self) -> None:
        """Fetch what is not pushed: the stats, once the list of older sessions, and outcomes that were missed."""
        try:
            self.model.set_stats(await self.daemon.get("/stats"), self.clock())
            if not self._is_listed:
                self.model.add_sessions((await self.daemon.get("/sessions", limit=200))["sessions"])
                self._is_listed = True
        except QuarterdeckError:
            pass
        for item in [one for one in self.model.desk if one.is_unexplained and not one.is_outcome_fetched]:
            await fetch_outcome(self, item.request_id, self.clock())
            item.is_outcome_fetched = True
        self.announce()
        self.model.remove_expired(self.clock())

    def announce(self) -> None:
        """Print what is new, unless something is being read out."""
        if not self._is_quiet:
            self.feed.print_new()
            self.announcer.announce(self.clock(), time.time())

    def redraw_soon(self) -> None:
        """Do nothing: changes are announced as they arrive."""

    def say(self, words: str, severity: SeverityLevel = "information") -> None:
        """Print one line, made harmless."""
        self._print(one_line(words))

    async def read_out(self, lines: Iterable[StyledLine]) -> None:
        """Print all of these lines, with no announcement between them."""
        with self.quiet():
            rows = await run_in_thread(lambda: list(fold(lines, WIDTH)))
            for start in range(0, len(rows), ROWS_AT_ONCE):
                self._print(plain(rows[start : start + ROWS_AT_ONCE]))
                await asyncio.sleep(0)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Hold announcements back meanwhile, and print them afterwards."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False
            self.announce()

    async def ask(self, question: str) -> str:
        """The person's answer. Raises CommandEnded for `cancel` and at the end of input."""
        self.say(question)
        typed = await self._type_line()
        if typed is None or typed.strip() == "cancel":
            raise CommandEnded("Cancelled; nothing was done.")
        return typed.strip()

    async def is_sure(self, question: str) -> bool:
        """True if the person answers yes; anything else is a no."""
        return (await self.ask(f"{question} yes or no?")).lower() in YES

    async def confirm(
        self,
        draft: D,
        hint: str,
        describe: Callable[[D], Awaitable[str]],
        change: Callable[[D, str], D | str],
    ) -> D:
        """The draft that the person says yes to. Any other line changes it, and it is described again. `describe`
        returns the reason why the draft cannot be used, in words, and so does `change` for an invalid line."""
        while True:
            problem = await describe(draft)
            typed = await self.ask(hint)
            if typed.lower() not in YES:
                changed = change(draft, typed)
            elif problem:
                changed = problem
            else:
                return draft
            if isinstance(changed, str):
                self.say(changed)
            else:
                draft = changed

    async def run_commands(self) -> None:
        """Run every typed command until the person quits."""
        while (typed := await self._type_line()) is not None:
            if not await self.run_command(typed):
                return

    async def run_command(self, text: str) -> bool:
        """Run one typed command. False for `quit`."""
        self._attention.key(self.clock())
        word, _, rest = text.strip().partition(" ")
        if word in ("quit", "exit"):
            return False
        try:
            await self._commands[find_command(word)](self, rest.strip())
        except CommandEnded as ended:
            self.say(str(ended))
        except QuarterdeckError as error:
            self.say(f"Not done: {error}")
        return True


Handler = Callable[[PlainApp, str], Awaitable[None]]
