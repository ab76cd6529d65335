"""Times as people type them: 30m, 2h, 3d, or a date."""

from __future__ import annotations

import time
from datetime import datetime

import typer

from quarterdeck.core.text.durations import seconds_in


def read_length(text: str) -> float:
    """`90s`, `12h`, `7d` in seconds."""
    found = seconds_in(text)
    if not found:
        raise typer.BadParameter(f"{text!r} is not a length of time; write it like 12h or 30d")
    return found


def read_time(text: str, now: float | None = None) -> float:
    """Unix seconds of so long ago, or of an ISO date, which is local unless it names its zone."""
    ago = seconds_in(text)
    if ago is not None:
        return (time.time() if now is None else now) - ago
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(f"{text}: neither like 30m, 2h or 3d, nor a date like 2026-01-31T12:00") from None
