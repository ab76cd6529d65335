"""The words that start Claude Code in a terminal."""

from __future__ import annotations

from quarterdeck.core.engine.session_messages import Start


def terminal_arguments(start: Start, *, settings: str = "", prompt: str | None = None) -> list[str]:
    """What follows the program's name. What somebody else chose is bound to its flag, or stands behind `--`, so that
    it can never be read as another flag."""
    chosen = {
        "--model": start.model,
        "--permission-mode": start.permission_mode,
        "--resume": start.resume,
        "--session-id": start.session_id if start.fork or not start.resume else None,
        "--settings": settings or None,
    }
    flags = [f"{flag}={value}" for flag, value in chosen.items() if value is not None]
    return [*flags, *(["--fork-session"] if start.fork else []), *(["--", prompt] if prompt else [])]
