"""The end of the feed while a model speaks: its words as they come, until the feed has them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

from textual import work

from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.connection import SURFACE, Talk
from quarterdeck.surfaces.client.live import Live, Message
from quarterdeck.surfaces.terminal.live_text import Saying, Spoken, followed
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import Line, fold, line
from quarterdeck.surfaces.tui.widgets.text_view import Wall

Json = dict[str, Any]
MOST_ROWS = 6


def said_lines(name: str, said: Saying) -> Iterator[Line]:
    """Who speaks, and what."""
    yield line(("● ", "running"), (name, "strong"), (" thinks …" if said.thinks else " says", "dim"))
    if said.text.strip():
        yield from (line(part, indent=2) for part in said.text.strip("\n").split("\n"))


class Speech(Wall, can_focus=False):
    """There only while somebody speaks. Follows the streams of what is looked at, over a connection of its own."""

    DEFAULT_CSS = """
    Speech { height: auto; display: none; padding: 0 2; overflow: hidden; }
    Speech.-shown { display: block; }
    """

    def __init__(self, talk: Talk, model: Model, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._talk = talk
        self._model = model
        self._followed: tuple[str, ...] = ()
        self.spoken = Spoken()

    def tell(self, chosen: str | None, events: list[Json]) -> None:
        """Follow who is looked at, and show what they say now."""
        wanted = followed(self._model.sessions, chosen)
        if wanted != self._followed:
            self._followed = wanted
            self._follow(wanted)
        self.spoken.recorded(events)
        self.spoken.keep(wanted, time.monotonic())
        self._draw()

    @work(exclusive=True, group="speech")
    async def _follow(self, sessions: tuple[str, ...]) -> None:
        """Hear what these sessions say; nobody, when there are none."""
        if not sessions:
            return
        live = Live(self._talk.where, client=SURFACE, topics=[f"streams:{one}" for one in sessions])
        try:
            async with aclosing(live.follow()) as following:
                async for said in following:
                    if isinstance(said, Message) and said.kind == "stream":
                        self.spoken.hear(said.body, time.monotonic())
                        self._draw()
        except Refused:
            return

    def _draw(self) -> None:
        now = self.spoken.now
        self.set_class(bool(now), "-shown")
        if not now:
            return
        width = max(20, self.content_size.width or self.app.size.width - 8)
        shown = []
        for session_id, said in now.items():
            head, *rows = fold(said_lines(str(self._model.name_of(session_id)), said), width)
            shown += [head, *rows[-max(1, MOST_ROWS // len(now)) :]]
        self.styles.height = len(shown)
        self.show_rows(shown)
