"""Finds stops that repeat the agent's last message, so that the feed does not show it twice. Pure."""

from __future__ import annotations

from typing import Any

MAX_TEXTS = 10_000
"""Texts and stops that are remembered."""


class RepeatedTexts:
    """The texts of each run, in whatever order the log is read."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, int], int] = {}
        self._stops: dict[tuple[str, int], int] = {}

    def receive(self, event: dict[str, Any]) -> int:
        """Take a message or a stop; returns the `seq_no` of the stop that repeats a message, or 0."""
        data = event.get("data")
        is_stop = event["kind"] == "stop.request"
        text = data.get("last_assistant_message" if is_stop else "text") if isinstance(data, dict) else None
        if not isinstance(text, str) or not text.strip():
            return 0
        key = (str(event["run_id"]), hash(text.strip()))
        same_side, other_side = (self._stops, self._texts) if is_stop else (self._texts, self._stops)
        same_side[key] = event["seq_no"]
        if len(same_side) > MAX_TEXTS:
            del same_side[next(iter(same_side))]
        return self._stops[key] if key in other_side else 0


TEXT_KINDS = frozenset({"stop.request", "message.assistant"})
"""Kinds that carry the agent's last text."""
