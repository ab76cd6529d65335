"""Durations and dates as arguments: 30m, 2h, 3d, or 2026-01-31T12:00."""

from __future__ import annotations

import time
from datetime import datetime

import typer

from quarterdeck.core.text.durations import seconds_in

SINCE = "a duration ago like 30m, 2h or 3d, or a date"
"""What `read_time` reads, for the help."""


def read_duration(text: str) -> float:
    """The seconds of a duration like `90s`, `12h` or `7d`."""
    found = seconds_in(text)
    if not found:
        raise typer.BadParameter(f"{text!r} is not a duration; use one like 12h or 30d")
    return found


def read_time(text: str, now: float | None = None) -> float:
    """The Unix time of a duration ago, or of an ISO date, which is local unless it has a time zone."""
    ago = seconds_in(text)
    if ago is not None:
        return (time.time() if now is None else now) - ago
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text!r} is neither a duration like 30m, 2h or 3d, nor a date like 2026-01-31T12:00"
        ) from None
