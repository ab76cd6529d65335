"""What an agent says when it stops is what it said last: where the feed has it already, it is not shown twice. Pure."""

from __future__ import annotations

from typing import Any

KNOWN = 10_000
"""Of so many texts and stops it is known what they said."""


class Echoes:
    """The texts of the runs, in whatever order the log is read."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, int], int] = {}
        self._stops: dict[tuple[str, int], int] = {}

    def hear(self, event: dict[str, Any]) -> int:
        """Take in something said or a stop; gives the stop that only repeats what was said, or 0."""
        data = event.get("data")
        is_stop = event["kind"] == "stop.request"
        text = data.get("last_assistant_message" if is_stop else "text") if isinstance(data, dict) else None
        if not isinstance(text, str) or not text.strip():
            return 0
        key = (str(event["run_id"]), hash(text.strip()))
        ours, theirs = (self._stops, self._said) if is_stop else (self._said, self._stops)
        ours[key] = event["seq_no"]
        if len(ours) > KNOWN:
            del ours[next(iter(ours))]
        return self._stops[key] if key in theirs else 0


ABOUT_WORDS = frozenset({"stop.request", "message.assistant"})
"""Kinds that say what an agent said last."""
