"""The command-line arguments of Claude Code in a terminal."""

from __future__ import annotations

from quarterdeck.core.engine.session_messages import StartSession


def terminal_arguments(start: StartSession, *, settings: str = "", prompt: str | None = None) -> list[str]:
    """Arguments after the program's name. A value from outside is bound to its flag or comes after `--`, so that it can
    never be read as another flag."""
    chosen = {
        "--model": start.model,
        "--permission-mode": start.permission_mode,
        "--resume": start.resume,
        "--session-id": start.session_id if start.fork or not start.resume else None,
        "--settings": settings or None,
    }
    flags = [f"{flag}={value}" for flag, value in chosen.items() if value is not None]
    return [*flags, *(["--fork-session"] if start.fork else []), *(["--", prompt] if prompt else [])]


def resume_command(session_id: str) -> str:
    """The command with which a person continues a session."""
    return f"claude --resume {session_id}"
