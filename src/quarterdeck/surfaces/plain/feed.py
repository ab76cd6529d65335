"""The feed in plain mode: events as sentences, the latest ones or as they happen."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from quarterdeck.core.model.events import OWN
from quarterdeck.core.text.feed.event_rows import EventRow, fold
from quarterdeck.core.text.feed.row_keys import is_debug
from quarterdeck.core.text.feed.row_stream import RowStream
from quarterdeck.core.text.feed.row_words import row_words
from quarterdeck.surfaces.terminal.model import Model
from quarterdeck.surfaces.terminal.session_names import SessionName

Json = dict[str, Any]
MOST = 1000


def row_sentence(row: EventRow, name: SessionName | str) -> str:
    """Time, session and what happened, without the glyph: a screen reader cannot use it."""
    line = row_words(row).line
    glyph, _, words = line.partition(" ")
    is_glyph = bool(words) and len(glyph) == 1 and not glyph.isalnum()
    clock = time.strftime("%H:%M:%S", time.localtime(row.head["at"]))
    return f"{clock} {name}: {words if is_glyph else line}"


class PlainFeed:
    """The events of all sessions, or of one, as they happen."""

    def __init__(self, model: Model, say: Callable[[str], None]) -> None:
        self._model = model
        self._say = say
        self._is_on = False
        self._session_id: str | None = None
        self._unsaid: deque[Json] = deque(maxlen=MOST)
        self._stream = RowStream()

    def switch(self, *, on: bool, session_id: str | None = None) -> None:
        """Print new events from now on, or no longer."""
        self._stream = RowStream()
        self._is_on, self._session_id = on, session_id

    def add(self, events: Iterable[Json]) -> None:
        """Keep new events for printing while the feed is on; of very many, the latest."""
        if self._is_on:
            self._unsaid += [event for event in events if self._session_id in (None, event["session_id"])]

    def print_new(self) -> None:
        """Print the rows that the events that were kept complete."""
        for row in self._stream.add(self._unsaid):
            self._print_row(row)
        self._unsaid.clear()

    def print_events(self, events: Iterable[Json]) -> None:
        """Print these events as rows, but not those for debugging."""
        for row in fold(events):
            self._print_row(row)

    def _print_row(self, row: EventRow) -> None:
        if not all(map(is_debug, row.events)):
            session_id = row.head["session_id"]
            name = "Quarterdeck" if session_id == OWN else self._model.name_of(session_id)
            self._say(row_sentence(row, name))
