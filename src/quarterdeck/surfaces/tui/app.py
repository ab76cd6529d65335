"""The terminal UI: one Textual app over one daemon."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterable
from contextlib import aclosing
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rich.segment import Segments
from rich.traceback import Traceback
from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.events import AppBlur, AppFocus, Event, InputEvent, Key, Paste
from textual.filter import Monochrome
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from quarterdeck import __version__
from quarterdeck.core.text.sanitize import one_line
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.surfaces.client.attention import Attention
from quarterdeck.surfaces.client.connection import DaemonConnection, run_in_thread
from quarterdeck.surfaces.client.remote import RemoteDaemon
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.terminal.text_commands import BY_NAME, palette, read_command
from quarterdeck.surfaces.text.labels import about
from quarterdeck.surfaces.tui.keys.command_dispatch import CommandDispatch
from quarterdeck.surfaces.tui.keys.decision_keys import DecisionTarget
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.base import PageScreen
from quarterdeck.surfaces.tui.terminal_notify import TerminalNotifier
from quarterdeck.surfaces.tui.widgets.footer import KeyFooter
from quarterdeck.surfaces.tui.widgets.output_filter import NoColours, OutputFilter
from quarterdeck.surfaces.tui.widgets.status_line import SHOWN_SECONDS, StatusLine
from quarterdeck.surfaces.tui.widgets.themes import THEMES
from quarterdeck.system.terminal_end import ends_with_terminal

if TYPE_CHECKING:
    from quarterdeck.surfaces.tui.flows.decision_flow import DecisionFlow
    from quarterdeck.surfaces.tui.flows.session_flow import SessionFlow

TICK_SECONDS = 0.05
STATS_SECONDS = 3.0
LOOK_SECONDS = 1.0
PRELOAD_AFTER_SECONDS = 0.2
LATE_MODULES = ("flows.decision_flow", "flows.session_flow", "screen_registry")
"""What the first screen does not need: the dialogs and the other screens. The likeliest first key comes first."""
UPGRADED = "Quarterdeck was upgraded: restart this UI"
MANY_EVENTS = 4_000
"""Events that may queue for the feed. Beyond that the daemon is read only as fast as they are shown."""


class QuarterdeckApp(App[None]):
    """Follows the daemon of a home, shows its state and sends the person's decisions and commands."""

    CSS_PATH = Path(__file__).with_name("look.tcss")
    TITLE = "Quarterdeck"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS = [
        Binding("ctrl+p", "command_palette", "command palette", show=False, priority=True),
        Binding("ctrl+q", "quit", "quit", show=False, priority=True),
        Binding("ctrl+c", "quit", "quit", show=False),
    ]

    def __init__(
        self,
        home: Path,
        *,
        theme: str = "dark",
        daemon: DaemonConnection | None = None,
        is_connected: Callable[[], bool] = bool,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.clock = clock
        self.is_connected = is_connected
        self._filters = [OutputFilter(), *(one for one in self._filters if not isinstance(one, Monochrome))]
        if self.no_color:
            self._filters.append(NoColours())
        for known in THEMES:
            self.register_theme(known)
        self.theme = theme
        self.daemon = daemon or DaemonConnection(home)
        self.model = Model(__version__, self.daemon.way_to_start)
        self.commands = CommandDispatch(self)
        self.status = StatusLine()
        self.notifier = TerminalNotifier(self._write)
        self.attention = Attention(time.monotonic())
        self.main_screen = MainScreen()
        self.drafts: dict[str, str] = {}
        """Unsent text of dialogs, by what it was for."""
        self.is_suspended = False
        """True while another program has the terminal."""
        self._palette_target: DecisionTarget | None = None
        self._following: Worker[None] | None = None
        self._loop_of_ui: asyncio.AbstractEventLoop | None = None
        self._is_dirty = True
        self._drawn_at = 0.0

    @cached_property  # not made at the start: importing its dialogs would delay the first screen
    def decision_flow(self) -> DecisionFlow:
        """The flow of a decision."""
        from quarterdeck.surfaces.tui.flows.decision_flow import DecisionFlow

        return DecisionFlow(self)

    @cached_property  # the same
    def session_flow(self) -> SessionFlow:
        """The flow of a session command."""
        from quarterdeck.surfaces.tui.flows.session_flow import SessionFlow

        return SessionFlow(self)

    def on_mount(self) -> None:
        self.push_screen(self.main_screen)
        self.notifier.save_title()
        self._following = self.follow()
        self.poll_stats()
        self.set_interval(TICK_SECONDS, self.tick)
        self.set_interval(LOOK_SECONDS, self.say_whether_visible)
        self._loop_of_ui = asyncio.get_running_loop()

    def on_ready(self) -> None:
        self.preload_modules()

    def _handle_exception(self, error: Exception) -> None:
        """End with a traceback; but go on, with a message, after a worker that needed a module which an upgrade has
        removed."""
        if isinstance(error, WorkerFailed) and isinstance(error.error, ImportError):
            self.say(UPGRADED, "error")
        else:
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Print the traceback without local variables: Textual's own shows them, and they may hold secrets."""
        self.bell()
        self._exit_renderables.append(Segments(self.console.render(Traceback(width=None), self.console.options)))
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        self.notifier.restore_title()
        if self._following is not None:
            self._following.cancel()
            with contextlib.suppress(WorkerCancelled, WorkerFailed):
                await self._following.wait()

    def _write(self, text: str) -> None:
        """Write to the terminal, in order with what is drawn; while it is suspended, past Textual."""
        if self.is_suspended:
            with contextlib.suppress(OSError):  # gone, or another program has ended it
                os.write(1, text.encode())
        elif self._driver is not None and not self.is_headless:
            self._driver.write(text)
            self._driver.flush()

    async def on_event(self, event: Event) -> None:
        """Note when a person looks at this terminal, before any widget takes the event, and drop a message that an
        earlier key has caused: with the next key it is old."""
        now = time.monotonic()
        if isinstance(event, Key) and self.status.forget_old(now):
            self._update_footer()
        if isinstance(event, AppFocus | AppBlur):
            self.attention.focus(isinstance(event, AppFocus), now)
        elif isinstance(event, InputEvent | Paste):
            self.attention.key(now)
        await super().on_event(event)

    async def say_whether_visible(self) -> None:
        """Tell the daemon whether a person looks. A session's terminal on the screen counts as the surface."""
        await self.daemon.live.show(self.is_suspended or self.attention.is_visible(time.monotonic()))

    def close_from_signal(self, code: int) -> None:
        """Leave with this exit code. Called by a signal handler, so the event loop must be woken."""
        if self._loop_of_ui is None:
            raise SystemExit(code)
        self._loop_of_ui.call_soon_threadsafe(partial(self.exit, return_code=code))

    def redraw_soon(self) -> None:
        """Redraw at the next tick."""
        self._is_dirty = True

    def tick(self) -> None:
        """Redraw after a change, and once a second for ages and durations."""
        now = time.monotonic()
        if self.model.remove_expired(now):
            self._is_dirty = True
        if (self._is_dirty or now - self._drawn_at >= 1.0) and self.main_screen.is_composed:
            self._is_dirty, self._drawn_at = bool(self.model.events), now
            for words in self.model.take_notices():
                self.say(words, "warning")
            self._notify_waiting()
            self.main_screen.update_panes()
            if isinstance(self.screen, PageScreen):
                self.screen.update_header()

    def _notify_waiting(self) -> None:
        self.notifier.update({item.request_id: partial(self._notification_text, item) for item in self.model.pending})

    def _notification_text(self, item: RequestItem) -> str:
        name = self.model.name_of(item.view["session_id"]) if self.model.session_of(item.view) else "a session"
        return f"{name} needs you: {about(item.view)}"

    @work(group="follow", exclusive=True)
    async def follow(self) -> None:
        """Receive the daemon's messages, across its restarts."""
        try:
            async with aclosing(self.daemon.live.follow()) as messages:
                async for message in messages:
                    link_before = self.model.link
                    self.model.receive(message, time.monotonic())
                    self.redraw_soon()
                    if self.model.link == "live" != link_before:
                        self.list_sessions()
                    if len(self.model.events) > MANY_EVENTS:
                        await asyncio.sleep(TICK_SECONDS)
        except Refused as error:
            self.model.set_refused(str(error))
            self.redraw_soon()

    @work(group="ahead")
    async def preload_modules(self) -> None:
        """Import the rest of the UI in a thread, so that no key press waits for it, and none misses it once an upgrade
        has replaced the files."""
        await asyncio.sleep(PRELOAD_AFTER_SECONDS)
        for name in LATE_MODULES:
            await run_in_thread(partial(import_module, f"quarterdeck.surfaces.tui.{name}"))

    @work(group="list", exclusive=True)
    async def list_sessions(self) -> None:
        """Fetch all sessions, page by page: the live connection does not send ended ones."""
        after: str | None = None
        while True:
            try:
                page = await self.daemon.get("/sessions", limit=200, after=after)
            except QuarterdeckError:
                return
            self.model.add_sessions(page["sessions"])
            self.redraw_soon()
            after = page["next"]
            if after is None:
                return

    @work(group="measure", exclusive=True)
    async def poll_stats(self) -> None:
        """Fetch the daemon's stats every few seconds."""
        while True:
            try:
                stats = await self.daemon.get("/stats")
            except QuarterdeckError:
                pass
            else:
                self.model.set_stats(stats, time.monotonic())
                self.redraw_soon()
            await asyncio.sleep(STATS_SECONDS)

    def say(self, words: str, severity: SeverityLevel = "information") -> None:
        """Show a short message in the bottom line; never as markup."""
        self.status.say(one_line(words), severity, time.monotonic())
        self._update_footer()
        self.set_timer(SHOWN_SECONDS[severity] + 0.05, self._update_footer)

    async def is_sure(self, question: str) -> bool:
        """Ask the person to confirm. True for a yes."""
        from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog

        return await self.push_screen_wait(ConfirmDialog(question)) is True

    def retract(self, words: str) -> None:
        """Remove a message that no longer holds."""
        self.status.retract(one_line(words))
        self._update_footer()

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show Textual's notifications in the bottom line: nothing floats over what is read."""
        self.say(message, severity)

    def _update_footer(self) -> None:
        for screen in self.screen_stack[-1:]:
            for keys in screen.query(KeyFooter):
                keys.update_keys()

    def copy(self, text: str) -> None:
        """Copy a text to the terminal's clipboard (OSC 52)."""
        if text:
            self.copy_to_clipboard(text)
            self.say(f"Copied {len(text):,} characters")
        else:
            self.say("Nothing here to copy", "warning")

    def run_command(self, text: str, target: DecisionTarget | None) -> None:
        """Run a typed command. A decision is about `target`, the card on screen when the typing began."""
        command = read_command(text)
        if isinstance(command, str):
            self.say(command, "warning")
        else:
            self.commands.perform(command[0].name, command[1], target)

    def perform_command(self, name: str, rest: str) -> None:
        """Run the command that a key stands for."""
        self.commands.perform(name, rest, self.main_screen.desk.target)

    def action_command_palette(self) -> None:
        """Open the palette. A decision chosen there is about the card that was on screen when it opened."""
        self._palette_target = self.main_screen.desk.target if self.screen is self.main_screen else None
        if self._palette_target is not None and not self.main_screen.desk.is_settled:
            self._palette_target = self._palette_target._replace(shown_at=None)
        super().action_command_palette()

    def open_page(self, name: str) -> None:
        """Open one of the other screens. They are imported at the first use, so that the main screen comes sooner."""
        try:
            from quarterdeck.surfaces.tui.screen_registry import PAGES
        except ImportError:
            self.say(UPGRADED, "error")
            return
        if isinstance(self.screen, ModalScreen):
            self.say("esc closes this first", "warning")
            return
        for _ in self.screen_stack[self.screen_stack.index(self.main_screen) + 1 :]:
            self.pop_screen()
        self.push_screen(PAGES[name]())

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The commands of the palette."""
        target = self._palette_target
        sessions = {one.session_id: str(self.model.name_of(one.session_id)) for one in self.model.shown_sessions()}
        for name, rest, shown in palette(sessions):
            run = partial(self.commands.perform, name, rest, target)
            yield SystemCommand(one_line(shown), BY_NAME[name].words, run)


def relax_garbage_collector() -> None:
    """Collect garbage less often. What was imported stays, and events hold no reference cycles: scanning them all would
    take longer than anything else between two keys."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def run(
    home: Path,
    theme: str = "dark",
    is_connected: Callable[[], bool] = bool,
    remote: RemoteDaemon | None = None,
) -> None:
    """Run the terminal UI until the person quits. `is_connected` tells whether Claude Code is connected to this home;
    it may take a while. `remote` is the daemon of another machine, instead of that of the home."""
    daemon = DaemonConnection(home, remote=remote)
    app = QuarterdeckApp(home, theme=theme, daemon=daemon, is_connected=is_connected)
    relax_garbage_collector()
    with ends_with_terminal(app.close_from_signal):
        app.run()
    if app.return_code:
        raise SystemExit(app.return_code)
