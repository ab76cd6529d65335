"""What was last said to the person at the terminal, and for how long it is shown; pure."""

from __future__ import annotations

from typing import NamedTuple

SHOWN_SECONDS = {"information": 6.0, "warning": 8.0, "error": 15.0}
TOGETHER_SECONDS = 1.0
MARKS = {"information": ("→ ", "good"), "warning": ("! ", "warn"), "error": ("✕ ", "blocked")}
"""The mark before the words, and the style of both."""


class Said(NamedTuple):
    """Words, how grave they are, when they were said, and when the breath began in which they were."""

    words: str
    severity: str
    at: float
    began: float

    def is_shown(self, at: float) -> bool:
        return at - self.at < SHOWN_SECONDS[self.severity]


class Status:
    """One thing at a time. What is said in the same breath as something else stands beside it."""

    def __init__(self) -> None:
        self._said: Said | None = None

    def say(self, words: str, severity: str, at: float) -> None:
        before, began = self._said, at
        if before is not None and at - before.began < TOGETHER_SECONDS and words not in before.words:
            words, began = f"{before.words} · {words}", before.began
            severity = max(severity, before.severity, key=list(SHOWN_SECONDS).index)
        self._said = Said(words, severity, at, began)

    def take_back(self, words: str) -> None:
        """What was said no longer holds."""
        said = self._said
        if said is not None and words and words in said.words:
            left = " · ".join(part for part in said.words.split(" · ") if part != words)
            self._said = said._replace(words=left) if left and left != said.words else None

    def shown(self, at: float) -> Said | None:
        """What is to be shown now."""
        return self._said if self._said is not None and self._said.is_shown(at) else None
