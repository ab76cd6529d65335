"""Following links: where an agent really works, and which file its tool is really about."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path
from typing import Any

from quarterdeck.core.commands import Places
from quarterdeck.core.runtime import RuntimeEvent
from quarterdeck.core.subject import LONGEST_PATH, from_there

PATIENCE_SECONDS = 0.5
"""How long a file system may take; one that hangs must not keep a request from the desk."""

FILE_FIELDS = ("file_path", "notebook_path", "path")
AT_MOST = 8
"""How many look at once: each may hang in its file system for ever."""


class PlaceFinder:
    """Resolves paths in threads of their own, which may hang without keeping anybody or the end of the daemon waiting.
    While too many hang, nothing more is resolved, and no allow rule for files holds."""

    def __init__(self) -> None:
        self._looking = 0

    async def find(self, event: RuntimeEvent, cwd: str) -> Places:
        """The real places; the paths as written where they cannot be found out."""
        if self._looking >= AT_MOST:
            return Places(cwd=cwd)
        self._looking += 1
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Places] = loop.create_future()

        def look() -> None:
            places = places_of(event.payload.get("tool_input"), cwd)
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._looked, found, places)

        threading.Thread(target=look, name="places", daemon=True).start()
        done, _ = await asyncio.wait((found,), timeout=PATIENCE_SECONDS)
        return found.result() if done else Places(cwd=cwd)

    def _looked(self, found: asyncio.Future[Places], places: Places) -> None:
        self._looking -= 1
        if not found.done():
            found.set_result(places)


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
