"""Lengths of time in words: as people type them, and as every list, card and message shows them."""

from __future__ import annotations

import re

_DURATION = re.compile(r"([0-9]{1,9})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds_in(text: str) -> float | None:
    """The duration in seconds; None if the text is not one, like 90s, 30m, 12h, 7d or 2w."""
    match = _DURATION.fullmatch(text.strip().lower())
    return float(int(match[1]) * _SECONDS[match[2]]) if match else None


def age_words(seconds: float) -> str:
    """How long something has lasted, in whole units and rounded down: 0 s, 12 s, 4 m, 2 h, 3 d."""
    unit = next((unit for unit in "dhm" if seconds >= _SECONDS[unit]), "s")
    return f"{int(max(0.0, seconds) / _SECONDS[unit])} {unit}"


def duration_words(seconds: float) -> str:
    """A measured duration; a short one more exactly than an age: 31 ms, 4.1 s, 12 s, 4 m."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 9.95 else age_words(round(seconds))


def limit_words(seconds: float) -> str:
    """A configured duration, in the unit one would write it in: 24 h, 90 s, 5 m."""
    unit = next((u for u in "hm" if seconds >= 2 * _SECONDS[u] or round(seconds) == _SECONDS[u]), "s")
    return f"{round(seconds / _SECONDS[unit], 1):,g} {unit}"
