"""How much of what an agent says beside its hooks is kept: an agent that repeats itself must not fill the log."""

from __future__ import annotations

from quarterdeck.core.engine.session_messages import Noted
from quarterdeck.wire import write_json

WINDOW_SECONDS = 60.0
MOST = 60
MOST_BYTES = 1024 * 1024
DROPPED = "notes_dropped"


class FewNotes:
    """Lets the first notes of a session through in each window, and counts the others."""

    def __init__(self) -> None:
        self._began = 0.0
        self._count = self._bytes = self._dropped = 0

    def of(self, note: Noted) -> list[Noted]:
        """What is told of this one: itself or nothing, and before it what was dropped in a window that is over."""
        told = []
        if not 0 <= note.at - self._began < WINDOW_SECONDS:
            told = self.rest(note.session_id, note.at)
            self._began, self._count, self._bytes = note.at, 0, 0
        size = len(write_json(note.body)) if self._count < MOST else 0
        if self._count >= MOST or self._bytes + size > MOST_BYTES:
            self._dropped += 1
            return told
        self._count += 1
        self._bytes += size
        return [*told, note]

    def rest(self, session_id: str, at: float) -> list[Noted]:
        """One note that says how many were dropped, if any were."""
        count, self._dropped = self._dropped, 0
        return [Noted(session_id=session_id, at=at, name=DROPPED, body={"count": count})] if count else []
