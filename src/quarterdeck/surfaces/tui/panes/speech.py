"""Live text of running models below the feed: shown piece by piece until the feed has the whole message."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

from textual import work

from quarterdeck.errors import Refused
from quarterdeck.surfaces.client.connection import SURFACE, DaemonConnection
from quarterdeck.surfaces.client.live import LiveClient, LiveMessage
from quarterdeck.surfaces.terminal.live_text import LiveText, StreamedText, followed_sessions
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.styled_text import Row, StyledLine, fold, line
from quarterdeck.surfaces.tui.widgets.text_view import TextView

Json = dict[str, Any]
MAX_ROWS = 6


def speech_lines(name: str, speech: StreamedText) -> Iterator[StyledLine]:
    """The session's name, and its text so far."""
    yield line(("● ", "running"), (name, "strong"), (" thinks …" if speech.is_thinking else " says", "dim"))
    if speech.text.strip():
        yield from (line(part, indent=2) for part in speech.text.strip("\n").split("\n"))


class Speech(TextView, can_focus=False):
    """Shown only while a model writes. Follows the streams of the shown sessions over a connection of its own."""

    DEFAULT_CSS = """
    Speech { height: auto; display: none; padding: 0 2; overflow: hidden; }
    Speech.-shown { display: block; }
    """

    def __init__(self, connection: DaemonConnection, model: Model, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._connection = connection
        self._model = model
        self._followed: tuple[str, ...] = ()
        self.live_text = LiveText()

    def update(self, chosen: str | None, events: list[Json]) -> None:
        """Follow the shown sessions and draw their live text."""
        session_ids = followed_sessions(self._model.sessions, chosen)
        if session_ids != self._followed:
            self._followed = session_ids
            self._follow(session_ids)
        self.live_text.drop_recorded(events)
        self.live_text.prune(session_ids, time.monotonic())
        self._draw()

    @work(exclusive=True, group="speech")
    async def _follow(self, sessions: tuple[str, ...]) -> None:
        """Receive the streams of these sessions, if there are any."""
        if not sessions:
            return
        live = LiveClient(
            self._connection.where, client=SURFACE, topics=[f"streams:{session_id}" for session_id in sessions]
        )
        try:
            async with aclosing(live.follow()) as following:
                async for message in following:
                    if isinstance(message, LiveMessage) and message.kind == "stream":
                        self.live_text.receive(message.body, time.monotonic())
                        self._draw()
        except Refused:
            return

    def _draw(self) -> None:
        speeches = self.live_text.current
        self.set_class(bool(speeches), "-shown")
        if not speeches:
            return
        width = max(20, self.content_size.width or self.app.size.width - 8)
        rows: list[Row] = []
        for session_id, speech in speeches.items():
            head, *text_rows = fold(speech_lines(str(self._model.name_of(session_id)), speech), width)
            rows += [head, *text_rows[-max(1, MAX_ROWS // len(speeches)) :]]
        self.styles.height = len(rows)
        self.show_rows(rows)
