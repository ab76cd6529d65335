"""The terminal face: one app over one daemon."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import aclosing
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segments
from rich.traceback import Traceback
from textual import work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import Monochrome
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.connection import Talk, aside
from quarterdeck.surfaces.terminal.commands import BY_NAME, palette, read_command
from quarterdeck.surfaces.terminal.model import Asked, Model
from quarterdeck.surfaces.text.labels import about
from quarterdeck.surfaces.tui.command_dispatch import Orders
from quarterdeck.surfaces.tui.global_keys import APP_KEYS
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.panes.request_pane import Aim
from quarterdeck.surfaces.tui.terminal_notify import Notifier
from quarterdeck.surfaces.tui.widgets.footer import Keys
from quarterdeck.surfaces.tui.widgets.output_filter import LastLook, NoColours
from quarterdeck.surfaces.tui.widgets.status_line import SHOWN_SECONDS, Status
from quarterdeck.surfaces.tui.widgets.themes import THEMES

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.decision_flow import Deciding
    from quarterdeck.surfaces.tui.session_flow import Steering

TICK_SECONDS = 0.05
STATS_SECONDS = 3.0
AHEAD_SECONDS = 0.2
MANY_EVENTS = 4_000
"""Events that may wait for the feed; beyond that the daemon is read no faster than they are shown."""


class QuarterdeckApp(App[None]):
    """Follows the daemon of a home, shows how things stand, and sends what a person decides."""

    CSS_PATH = Path(__file__).with_name("look.tcss")
    TITLE = "Quarterdeck"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = APP_KEYS

    def __init__(
        self,
        home: Path,
        *,
        theme: str = "dark",
        talk: Talk | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.clock = clock
        self._filters = [LastLook(), *(one for one in self._filters if not isinstance(one, Monochrome))]
        if self.no_color:
            self._filters.append(NoColours())
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme
        self.talk = talk or Talk(home)
        self.model = Model(__version__)
        self.orders = Orders(self)
        self.status = Status()
        self.notifier = Notifier(self._write)
        self.bridge = Bridge()
        self.drafts: dict[str, str] = {}
        """What was typed into a dialog and not sent, by what it was for."""
        self.is_lent = False
        """Whether another program has the terminal."""
        self._aim: Aim | None = None
        self._following: Worker[None] | None = None
        self._is_dirty = True
        self._drawn_at = 0.0

    @cached_property
    def deciding(self) -> Deciding:
        """What follows when a person decides; its dialogs are read once the first screen is there."""
        from quarterdeck.surfaces.tui.decision_flow import Deciding

        return Deciding(self)

    @cached_property
    def steering(self) -> Steering:
        """What follows when a person orders something of a session."""
        from quarterdeck.surfaces.tui.session_flow import Steering

        return Steering(self)

    def on_mount(self) -> None:
        self.push_screen(self.bridge)
        self.notifier.begin()
        self._following = self.follow()
        self.measure()
        self.read_ahead()
        self.set_interval(TICK_SECONDS, self.tick)

        if not self.is_headless:
            for sign in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(sign, partial(self.exit, return_code=128 + sign))

    def _fatal_error(self) -> None:
        """What went wrong, without what the program held at the time: secrets may be among it."""
        self.bell()
        self._exit_renderables.append(Segments(self.console.render(Traceback(width=None), self.console.options)))
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        self.notifier.end()
        if self._following is not None:
            self._following.cancel()
            with contextlib.suppress(WorkerCancelled, WorkerFailed):
                await self._following.wait()

    def _write(self, text: str) -> None:
        """Straight to the terminal, in turn with what is drawn; to whoever has it, while it is lent."""
        if self.is_lent:
            os.write(1, text.encode())
        elif self._driver is not None and not self.is_headless:
            self._driver.write(text)
            self._driver.flush()

    def dirty(self) -> None:
        """Something changed: draw soon."""
        self._is_dirty = True

    def tick(self) -> None:
        """Draw what changed; ages once a second."""
        now = time.monotonic()
        if self.model.forget_over(now):
            self._is_dirty = True
        if (self._is_dirty or now - self._drawn_at >= 1.0) and self.bridge.is_whole:
            self._is_dirty, self._drawn_at = bool(self.model.events), now
            for words in self.model.take_news():
                self.say(words, "warning")
            self._announce()
            self.bridge.tell()

    def _announce(self) -> None:
        self.notifier.tell({asked.request_id: partial(self._who_waits, asked) for asked in self.model.pending})

    def _who_waits(self, asked: Asked) -> str:
        who = self.model.name_of(asked.view["session_id"]) if self.model.session_of(asked.view) else "a session"
        return f"{who} needs you: {about(asked.view)}"

    @work(group="follow", exclusive=True)
    async def follow(self) -> None:
        """Hear everything the daemon says, over restarts."""
        try:
            async with aclosing(self.talk.live.follow()) as following:
                async for said in following:
                    was = self.model.link
                    self.model.hear(said, time.monotonic())
                    self.dirty()
                    if self.model.link == "live" != was:
                        self.list_sessions()
                    if len(self.model.events) > MANY_EVENTS:
                        await asyncio.sleep(TICK_SECONDS)
        except Refused as error:
            self.model.refused(str(error))
            self.dirty()

    @work(group="ahead")
    async def read_ahead(self) -> None:
        """Read what the first key may need, aside, so that it does not wait for it."""
        await asyncio.sleep(AHEAD_SECONDS)
        await aside(lambda: import_module("quarterdeck.surfaces.tui.decision_flow"))

    @work(group="list", exclusive=True)
    async def list_sessions(self) -> None:
        """Ended sessions too, which are not told live; all of them, a page at a time."""
        after: str | None = None
        while True:
            try:
                page = await self.talk.get("/sessions", limit=200, after=after)
            except QuarterdeckError:
                return
            self.model.listed(page["sessions"])
            self.dirty()
            after = page["next"]
            if after is None:
                return

    @work(group="measure", exclusive=True)
    async def measure(self) -> None:
        """The daemon's figures, again and again."""
        while True:
            try:
                stats = await self.talk.get("/stats")
            except QuarterdeckError:
                pass
            else:
                self.model.measured(stats, time.monotonic())
                self.dirty()
            await asyncio.sleep(STATS_SECONDS)

    def say(self, words: str, severity: SeverityLevel = "information") -> None:
        """A short word in the line at the bottom; never markup."""
        self.status.say(one_line(words), severity, time.monotonic())
        self._tell_keys()
        self.set_timer(SHOWN_SECONDS[severity] + 0.05, self._tell_keys)

    async def is_sure(self, question: str) -> bool:
        """Whether the person is sure."""
        from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog

        return await self.push_screen_wait(SureDialog(question)) is True

    def take_back(self, words: str) -> None:
        """What was said no longer holds."""
        self.status.take_back(one_line(words))
        self._tell_keys()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Whoever notifies says it at the bottom: nothing floats over what is read."""
        self.say(message, severity)

    def _tell_keys(self) -> None:
        for screen in self.screen_stack[-1:]:
            for keys in screen.query(Keys):
                keys.tell()

    def copy(self, text: str) -> None:
        """To the clipboard of the terminal (OSC 52)."""
        if text:
            self.copy_to_clipboard(text)
            self.say(f"Copied {len(text):,} characters")
        else:
            self.say("Nothing here to copy", "warning")

    def order(self, text: str, aim: Aim | None) -> None:
        """Do what was typed, about the card that was there when the typing began."""
        found = read_command(text)
        if isinstance(found, str):
            self.say(found, "warning")
        else:
            self.orders.perform(found[0].name, found[1], aim)

    def perform(self, name: str, rest: str) -> None:
        """Do what a key names."""
        self.orders.perform(name, rest, self.bridge.desk.aim)

    def action_command_palette(self) -> None:
        """What is chosen there is about the card that had been on screen for a while when it opened."""
        self._aim = self.bridge.desk.aim if self.screen is self.bridge else None
        if self._aim is not None and not self.bridge.desk.is_settled:
            self._aim = self._aim._replace(shown_at=None)
        super().action_command_palette()

    def open_page(self, name: str) -> None:
        """One of the other screens; they are read when the first is opened, so that the bridge is there sooner."""
        from quarterdeck.surfaces.tui.screen_registry import PAGES

        if isinstance(self.screen, ModalScreen):
            self.say("esc closes this first", "warning")
            return
        for _ in self.screen_stack[self.screen_stack.index(self.bridge) + 1 :]:
            self.pop_screen()
        self.push_screen(PAGES[name]())

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every command, for the palette."""
        aim = self._aim
        sessions = {
            one["session_id"]: str(self.model.name_of(one["session_id"])) for one in self.model.shown_sessions()
        }
        for name, rest, shown in palette(sessions):
            order = partial(self.orders.perform, name, rest, aim)
            yield SystemCommand(one_line(shown), BY_NAME[name].words, order)


def spare_collector() -> None:
    """What was read at the start stays, and events hold no cycles: looking for garbage in them all would take longer
    than anything else that the face does between two keys."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def run(home: Path, theme: str = "dark") -> None:
    """The terminal is ours until the person leaves."""
    app = QuarterdeckApp(home, theme=theme)
    spare_collector()
    app.run()
    if app.return_code:
        raise SystemExit(app.return_code)
