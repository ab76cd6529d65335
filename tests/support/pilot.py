"""The terminal UI without a terminal: keys go in, the text on the screen comes out."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from quarterdeck.surfaces.client.connection import DaemonConnection
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.panes.request_pane import RequestPane

SECONDS = 60.0


def screen_text(app: QuarterdeckApp) -> str:
    """The text on the screen, row by row."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


class TuiPilot:
    """One running terminal UI."""

    def __init__(self, app: QuarterdeckApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main_screen(self) -> MainScreen:
        return self.app.main_screen

    @property
    def desk(self) -> RequestPane:
        return self.main_screen.desk

    @property
    def text(self) -> str:
        return screen_text(self.app)

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until a condition holds; fail with the text on the screen."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {SECONDS} s: {what}\n{self.text}")
            await asyncio.sleep(0.02)

    async def sees(self, words: str) -> None:
        """Wait until the screen shows these words."""
        await self.until(lambda: words in self.text, f"“{words}” on the screen")

    async def shows_message(self, words: str) -> None:
        """Wait until the last message of the bottom line has these words, even if a slow machine has taken longer than
        it is shown."""

        def is_there() -> bool:
            message = self.app.status.shown(0.0)
            return message is not None and words in message.words

        await self.until(is_there, f"“{words}” in the bottom line")

    async def shows_screen(self, kind: type[Screen[Any]]) -> None:
        """Wait until a screen or dialog of this kind is on top and has its widgets, which come after it."""
        await self.until(lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted, kind.__name__)

    async def press(self, *keys: str) -> None:
        """Press keys, once a dialog has been on screen long enough."""
        dialog = self.app.screen
        if isinstance(dialog, DecisionDialog):
            await self.until(lambda: time.monotonic() - dialog.shown_at >= SETTLE_SECONDS, "a look")
        await self.pilot.press(*keys)

    async def scrolls_to_the_end(self, request: RequestItem) -> None:
        """Press End until the whole card has been seen: while a large card is being folded, keys scroll nothing."""
        for _ in range(int(SECONDS)):
            if not request.seen:
                await self.press("end")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await self.until(lambda: request.seen)
        assert request.seen, f"not seen to its end\n{self.text}"

    async def types(self, text: str) -> None:
        """Paste a text into the focused input."""
        await self.until(lambda: isinstance(self.app.focused, Input), "an input")
        assert isinstance(self.app.focused, Input)
        self.app.focused.insert_text_at_cursor(text)

    async def runs_command(self, text: str) -> None:
        """Run a command on the `:` line."""
        await self.press("colon")
        await self.types(text)
        await self.press("enter")

    async def card(self, command: str = "", *, settled: bool = True) -> RequestItem:
        """The card of this command, focused; `settled` waits until its keys act."""

        def is_there() -> bool:
            item = self.desk.item
            return item is not None and item.is_pending and command in str(item.view)

        await self.until(is_there, f"a card with {command}")
        self.desk.focus()
        if settled:
            await self.until(lambda: not self.desk.blocked_reason("deny"), "settled")
            await self.until(lambda: "too small" not in self.desk.blocked_reason("allow"), "laid out")
        assert self.desk.item is not None
        return self.desk.item


@asynccontextmanager
async def run_tui(
    home: Path, size: tuple[int, int] = (120, 40), theme: str = "dark", daemon: DaemonConnection | None = None
) -> AsyncGenerator[TuiPilot]:
    """Run the terminal UI on the daemon of a home, connected."""
    app = QuarterdeckApp(home, theme=theme, daemon=daemon)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        yield tui
