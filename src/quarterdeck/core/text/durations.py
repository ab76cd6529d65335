"""Lengths of time as people type them: 90s, 30m, 12h, 7d, 2w."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"([0-9]{1,9})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds_in(text: str) -> float | None:
    """The length in seconds; None when the text is none."""
    found = _LENGTH.fullmatch(text.strip().lower())
    return float(int(found[1]) * _SECONDS[found[2]]) if found else None
