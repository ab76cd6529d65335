"""The terminal face on a real daemon, without a terminal: keys go in, what the screen shows comes out."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from quarterdeck.surfaces.client.connection import Talk
from quarterdeck.surfaces.terminal.model import SETTLE_SECONDS, Asked
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.base import DecisionDialog
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.panes.request_pane import Desk

SECONDS = 30.0


def screen_text(app: QuarterdeckApp) -> str:
    """What the screen shows, row by row."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)


class Face:
    """One running face."""

    def __init__(self, app: QuarterdeckApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def bridge(self) -> Bridge:
        return self.app.bridge

    @property
    def desk(self) -> Desk:
        return self.bridge.desk

    @property
    def text(self) -> str:
        return screen_text(self.app)

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds; fails with what the screen shows."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {SECONDS} s: {what}\n{self.text}")
            await asyncio.sleep(0.02)

    async def sees(self, words: str) -> None:
        """Wait until the screen shows these words."""
        await self.until(lambda: words in self.text, f"“{words}” on the screen")

    async def hears(self, words: str) -> None:
        """Wait until these words stand in the line at the bottom."""

        def there() -> bool:
            said = self.app.status.shown(time.monotonic())
            return said is not None and words in said.words

        await self.until(there, f"“{words}” said")

    async def press(self, *keys: str) -> None:
        """Press keys, as a person does who has looked at the dialog first."""
        dialog = self.app.screen
        if isinstance(dialog, DecisionDialog):
            await self.until(lambda: time.monotonic() - dialog.shown_at >= SETTLE_SECONDS, "a look")
        await self.pilot.press(*keys)

    async def types(self, text: str) -> None:
        """Type a text into the input that has the focus, as one that is pasted."""
        await self.until(lambda: isinstance(self.app.focused, Input), "an input")
        assert isinstance(self.app.focused, Input)
        self.app.focused.insert_text_at_cursor(text)

    async def orders(self, text: str) -> None:
        """Give an order on the `:` line."""
        await self.press("colon")
        await self.types(text)
        await self.press("enter")

    async def card(self, command: str = "", *, settled: bool = True) -> Asked:
        """The card that asks for this, focused; settled once its keys act."""

        def there() -> bool:
            asked = self.desk.asked
            return asked is not None and asked.is_pending and command in str(asked.view)

        await self.until(there, f"a card with {command}")
        self.desk.focus()
        if settled:
            await self.until(lambda: not self.desk.why_not("deny"), "settled")
            await self.until(lambda: "too small" not in self.desk.why_not("allow"), "laid out")
        assert self.desk.asked is not None
        return self.desk.asked


@asynccontextmanager
async def face_of(
    home: Path, size: tuple[int, int] = (120, 40), theme: str = "dark", talk: Talk | None = None
) -> AsyncGenerator[Face]:
    """A face that has connected."""
    app = QuarterdeckApp(home, theme=theme, talk=talk)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.link == "live", "a connection")
        yield face
