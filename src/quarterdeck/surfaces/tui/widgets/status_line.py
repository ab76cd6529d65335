"""The last message to the person, and how long it is shown; pure."""

from __future__ import annotations

from typing import NamedTuple

SHOWN_SECONDS = {"information": 6.0, "warning": 8.0, "error": 15.0}
TOGETHER_SECONDS = 1.0
READ_SECONDS = 1.5
"""How long a message stays at least, whatever keys are pressed."""
MARKS = {"information": ("→ ", "good"), "warning": ("! ", "warn"), "error": ("✕ ", "blocked")}
"""The mark before the words, and the style of both."""


class StatusMessage(NamedTuple):
    """A message, its severity, its time, and the time of the first message it was joined with."""

    words: str
    severity: str
    at: float
    started_at: float

    def is_shown(self, at: float) -> bool:
        return at - self.at < SHOWN_SECONDS[self.severity]


class StatusLine:
    """Holds one message. Messages within a second of each other are joined, so that none is missed."""

    def __init__(self) -> None:
        self._message: StatusMessage | None = None

    def say(self, words: str, severity: str, at: float) -> None:
        before, started_at = self._message, at
        if before is not None and at - before.started_at < TOGETHER_SECONDS and words not in before.words:
            words, started_at = f"{before.words} · {words}", before.started_at
            severity = max(severity, before.severity, key=list(SHOWN_SECONDS).index)
        self._message = StatusMessage(words, severity, at, started_at)

    def holds(self, words: str, at: float) -> bool:
        """True while a message with these words is shown."""
        message = self.shown(at)
        return message is not None and words in message.words

    def forget_old(self, at: float) -> bool:
        """Remove the message if it has been shown long enough to be read. True if there was one; errors stay."""
        message = self.shown(at)
        if message is None or message.severity == "error" or at - message.at < READ_SECONDS:
            return False
        self._message = None
        return True

    def retract(self, words: str) -> None:
        """Remove a message that no longer holds."""
        message = self._message
        if message is not None and words and words in message.words:
            left = " · ".join(part for part in message.words.split(" · ") if part != words)
            self._message = message._replace(words=left) if left and left != message.words else None

    def shown(self, at: float) -> StatusMessage | None:
        """The message to show now."""
        return self._message if self._message is not None and self._message.is_shown(at) else None
