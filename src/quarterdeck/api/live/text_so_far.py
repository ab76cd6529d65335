"""The text that agents are writing now, for a client that begins to follow one in the middle of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quarterdeck.core.model.events import FeedEvent

Json = dict[str, Any]
KEPT_CHARACTERS = 64 * 1024
MOST_SESSIONS = 64
MOST_PIECES = 100
"""Pieces of one text that could not be joined; the oldest are dropped."""
REPLACING = frozenset({"message.assistant", "turn.result", "session.exit", "session.end"})
"""Kinds of events that hold the text, or end it."""


class TextSoFar:
    """The pieces of each session's current text: `text` of sessions over the SDK, `message` of observed ones. Pieces
    that follow each other are joined. The text of sub-agents is left out."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[tuple[str, Json]]] = {}

    def add(self, session_id: str, kind: str, data: Any) -> None:
        """Keep a piece, unless it ends the text: then the feed has it soon."""
        if kind not in _FIELDS or not isinstance(data, dict) or data.get("parent_tool_use_id"):
            return
        pieces = self._pieces.pop(session_id, [])
        if _begins(data, pieces):
            pieces = []
        joined = _joined(pieces[-1][1], data, _FIELDS[kind]) if pieces and pieces[-1][0] == kind else None
        if joined is not None:
            pieces[-1] = (kind, joined)
        else:
            pieces = [*pieces[1 - MOST_PIECES :], (kind, _cut(data, _FIELDS[kind]))]
        if not _ends(data):
            self._pieces[session_id] = pieces
        while len(self._pieces) > MOST_SESSIONS:
            del self._pieces[next(iter(self._pieces))]

    def drop_recorded(self, events: Iterable[FeedEvent]) -> None:
        """Forget the texts that these events replace."""
        for event in events if self._pieces else ():
            if event.kind in REPLACING:
                self._pieces.pop(event.session_id, None)

    def of(self, session_id: str) -> list[tuple[str, Json]]:
        """The kind and content of each piece, in order."""
        return list(self._pieces.get(session_id, ()))


_FIELDS = {"text": "text", "message": "delta"}
"""The field of a piece that holds its text."""
_PLACE = {"text": ("event", "delta", "index"), "delta": ("message_id",)}
"""What pieces have in common that follow each other, by that field."""


def _begins(data: Json, pieces: list[tuple[str, Json]]) -> bool:
    """True for the first piece of another message."""
    last = pieces[-1][1].get("message_id") if pieces else None
    return data.get("event") == "message_start" or (last is not None and data.get("message_id", last) != last)


def _ends(data: Json) -> bool:
    return data.get("event") == "message_stop" or bool(data.get("final", "delta" not in data and "event" not in data))


def _joined(last: Json, data: Json, field: str) -> Json | None:
    """Two pieces as one; None when the second is at another place of the message, or one of them is not text."""
    if not isinstance(last.get(field), str) or not isinstance(data.get(field), str):
        return None
    if any(last.get(name) != data.get(name) for name in _PLACE[field]):
        return None
    return {**data, field: (last[field] + data[field])[-KEPT_CHARACTERS:]}


def _cut(data: Json, field: str) -> Json:
    text = data.get(field)
    return {**data, field: text[-KEPT_CHARACTERS:]} if isinstance(text, str) and len(text) > KEPT_CHARACTERS else data
