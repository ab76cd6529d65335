"""The status that an agent writes about itself, in its own sessions file. Standard library only."""

from __future__ import annotations

import json
import os

MAX_STATUS = 64 * 1024


def read_status(path: str) -> tuple[str, str]:
    """The status and the time of its last change; empty if the file cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return "", ""
    try:
        content = json.loads(os.read(file, MAX_STATUS))
        return str(content.get("status", "")), str(content.get("statusUpdatedAt", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        return "", ""
    finally:
        os.close(file)
