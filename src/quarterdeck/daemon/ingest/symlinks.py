"""Following links: where an agent really works, and which file its tool is really about."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from quarterdeck.core.engine.messages import Places
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.tool_use import LONGEST_PATH, from_there
from quarterdeck.system.worker_thread import Aside, Stuck

PATIENCE_SECONDS = 0.5
"""How long a file system may take; one that hangs must not keep a request from the desk."""

FILE_FIELDS = ("file_path", "notebook_path", "path")


class PlaceFinder:
    """Resolves paths aside, where a file system may hang without keeping the daemon. What is not found out in time
    stays as written, and no allow rule for files holds for it."""

    def __init__(self) -> None:
        self._aside = Aside("places")

    async def find(self, event: RuntimeEvent, cwd: str) -> Places:
        """The real places; the paths as written where they cannot be found out."""
        try:
            return await self._aside.run(PATIENCE_SECONDS, places_of, event.payload.get("tool_input"), cwd)
        except Stuck:
            return Places(cwd=cwd)


def places_of(tool_input: Any, cwd: str) -> Places:
    """The real places of a use of a tool."""
    real = _real(cwd) or cwd
    fields = tool_input if isinstance(tool_input, dict) else {}
    written = next((v for f in FILE_FIELDS if isinstance(v := fields.get(f), str) and v), None)
    if written is None:
        return Places(cwd=real)
    return Places(cwd=real, path=_real(from_there(written, real, str(Path.home()))))


def _real(path: str) -> str | None:
    """The path with every link followed; None when the system cannot tell."""
    if not path or len(path) > LONGEST_PATH or "\0" in path:
        return None
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def folds_case(folder: str) -> bool:
    """Whether the file system of this folder ignores case."""
    return Path(folder.swapcase()).exists() and Path(folder).samefile(folder.swapcase())
