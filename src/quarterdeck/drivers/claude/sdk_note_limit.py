"""The limit of an agent's notes: an agent that repeats itself must not fill the log."""

from __future__ import annotations

from quarterdeck.core.engine.session_messages import AgentNote
from quarterdeck.wire import write_json

WINDOW_SECONDS = 60.0
# One each second on average.
MAX_NOTES = 60
MAX_NOTE_BYTES = 1024 * 1024
DROPPED = "notes_dropped"


class NoteLimit:
    """Lets the first notes of a session through in each window, and counts the others."""

    def __init__(self) -> None:
        self._began = 0.0
        self._count = self._bytes = self._dropped = 0

    def admit(self, note: AgentNote) -> list[AgentNote]:
        """The notes to report: this one or none, and before it the count of those dropped in a window that is over."""
        dropped = []
        if not 0 <= note.at - self._began < WINDOW_SECONDS:
            dropped = self.take_dropped(note.session_id, note.at)
            self._began, self._count, self._bytes = note.at, 0, 0
        size = len(write_json(note.body)) if self._count < MAX_NOTES else 0
        if self._count >= MAX_NOTES or self._bytes + size > MAX_NOTE_BYTES:
            self._dropped += 1
            return dropped
        self._count += 1
        self._bytes += size
        return [*dropped, note]

    def take_dropped(self, session_id: str, at: float) -> list[AgentNote]:
        """One note with the count of dropped notes, if there were any; resets the count."""
        count, self._dropped = self._dropped, 0
        return [AgentNote(session_id=session_id, at=at, name=DROPPED, body={"count": count})] if count else []
