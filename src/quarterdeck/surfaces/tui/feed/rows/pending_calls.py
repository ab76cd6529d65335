"""Uses of a tool that have no outcome yet: which of them wait for a person, and which were refused. Pure."""

from __future__ import annotations

from enum import Enum
from typing import Any

KNOWN = 10_000
"""Of so many uses the last word is kept."""


class Word(Enum):
    """What was last said of a use."""

    WAITS = "waits"
    DENIED = "denied"
    RUNS = "runs"


REQUESTS = frozenset({"permission.request", "question.request"})
DECISIONS = frozenset({"permission.decision", "question.decision"})
ABOUT_USES = REQUESTS | DECISIONS | {"permission.denied"}
"""Kinds that say whether a tool may run."""


def use_of(event: dict[str, Any], tool_use_id: Any) -> str:
    """The name of a use, beyond its session; nothing for one without an id."""
    return f"{event.get('session_id')}/{tool_use_id}" if tool_use_id else ""


class Uses:
    """The last word about each use, in whatever order the log is read."""

    def __init__(self) -> None:
        self._words: dict[str, tuple[int, Word]] = {}

    def hear(self, event: dict[str, Any]) -> str:
        """Take in an event; gives the use that it is about, or nothing."""
        data, cause = event.get("data"), event.get("cause")
        word = _word(event["kind"], data) if isinstance(data, dict) else None
        if word is None or not isinstance(data, dict):
            return ""
        use = use_of(event, data.get("tool_use_id") or (cause.get("tool_use_id") if isinstance(cause, dict) else None))
        if use and event["seq_no"] > self._words.get(use, (0, word))[0]:
            self._words[use] = (event["seq_no"], word)
            if len(self._words) > KNOWN:
                del self._words[next(iter(self._words))]
        return use

    def word(self, use: str) -> Word:
        """What was last said of a use; one of which nothing was said runs."""
        return self._words.get(use, (0, Word.RUNS))[1]


def _word(kind: str, data: dict[str, Any]) -> Word | None:
    """What an event says of its use: nothing when it comes too late, or the agent's own terminal asks on."""
    if kind in REQUESTS:
        return Word.WAITS
    if kind == "permission.denied":
        return Word.DENIED
    if data.get("late") or data.get("overrides") or data.get("still_asks"):
        return None
    return Word.DENIED if data.get("decision_type") == "deny" else Word.RUNS
