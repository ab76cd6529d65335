"""The key deck: what it shows, and its keys."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.forms.deck_panel import DeckKeyReader, deck_lines
from quarterdeck.surfaces.tui.screens.base import TextPage

REFRESH_SECONDS = 0.5


class DeckScreenPage(TextPage):
    """The key deck. Escape leaves it like every other screen, so its own Esc is on e."""

    heading = "Deck"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"type('{n}')", "press", show=False) for n in range(1, 10)),
        Binding("enter", "type('enter')", "send"),
        Binding("e", "type('escape')", "disarm or interrupt"),
        Binding("x", "type('x')", "export"),
        Binding("c", "type('c')", "Ctrl-C"),
        Binding("left_square_bracket", "type('[')", "page back", key_display="["),
        Binding("right_square_bracket", "type(']')", "page on", key_display="]"),
        Binding("minus", "type('-')", "select back", key_display="-"),
        Binding("plus", "type('+')", "select on", key_display="+"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._keys = DeckKeyReader()
        self._model: dict[str, Any] | None = None
        self._note = ""

    def on_mount(self) -> None:
        self.set_interval(REFRESH_SECONDS, self.action_reload)

    async def read(self) -> None:
        self._model = await self.tui.daemon.get("/deck")
        self._draw()

    def _draw(self) -> None:
        if self._model is not None:
            self.show(deck_lines(self._model, time.time(), self._note, esc="e Esc", leave="Esc"))

    @work(group="press")
    async def action_type(self, name: str) -> None:
        """Do what a key does, and show what came of it."""
        if self._model is None:
            return
        call = self._keys.read(name, self._model)
        self._note = self._keys.note
        if call is not None:
            try:
                await self.tui.daemon.live.command(call.name, **call.args)
            except QuarterdeckError as error:
                self._note = str(error)
            self._model = await self.tui.daemon.get("/deck")
        self._draw()
