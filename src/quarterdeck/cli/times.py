"""Times as people type them: 30m, 2h, 3d, or a date."""

from __future__ import annotations

import re
import time
from datetime import datetime

import typer

_LENGTH = re.compile(r"(\d{1,9})\s*([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def read_length(text: str) -> float:
    """`90s`, `12h`, `7d` in seconds."""
    found = _LENGTH.fullmatch(text.strip().lower())
    if found is None or int(found[1]) == 0:
        raise typer.BadParameter(f"{text!r} is not a length of time; write it like 12h or 30d")
    return float(int(found[1]) * _SECONDS[found[2]])


def read_time(text: str, now: float | None = None) -> float:
    """Unix seconds of so long ago, or of an ISO date, which is local unless it names its zone."""
    ago = _LENGTH.fullmatch(text.strip().lower())
    if ago:
        return (time.time() if now is None else now) - int(ago[1]) * _SECONDS[ago[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(f"{text}: neither like 30m, 2h or 3d, nor a date like 2026-01-31T12:00") from None
