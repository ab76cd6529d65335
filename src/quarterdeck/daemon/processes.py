"""What Claude Code's own process files say; best effort, and only the files that hold no secret."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec import Struct

MAX_FILE = 64 * 1024


class Process(Struct, frozen=True):
    """What a sessions file says of a session; `changed_at` is when its status last changed."""

    session_id: str
    pid: int
    status: str
    waiting_for: str | None
    changed_at: float


def read_processes(folder: Path, wanted: set[str] | None = None) -> dict[str, Process]:
    """The wanted sessions by id, or all, from the `<pid>.json` files alone; their siblings hold secrets."""
    found: dict[str, Process] = {}
    try:
        files = [f for f in folder.iterdir() if f.suffix == ".json" and f.stem.isdigit()]
    except OSError:
        return found
    for file in files:
        process = _read_process(file)
        if process is not None and (wanted is None or process.session_id in wanted):
            found[process.session_id] = process
    return found


def _read_process(file: Path) -> Process | None:
    try:
        if file.is_symlink() or file.stat().st_size > MAX_FILE:
            return None
        content = json.loads(file.read_bytes())
        waiting_for = content.get("waitingFor")
        return Process(
            session_id=str(content["sessionId"]),
            pid=int(content["pid"]),
            status=str(content.get("status", "")),
            waiting_for=waiting_for if isinstance(waiting_for, str) else None,
            changed_at=float(content.get("statusUpdatedAt", 0)) / 1000,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not yet waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
