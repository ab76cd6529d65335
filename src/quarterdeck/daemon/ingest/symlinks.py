"""Follows symlinks: the real folder of an agent, and the real file of its tool use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from quarterdeck.core.engine.messages import ResolvedPaths
from quarterdeck.core.model.runtime_event import RuntimeEvent
from quarterdeck.core.model.tool_use import MAX_PATH_LENGTH, absolute_path
from quarterdeck.system.worker_thread import WorkerThread, WorkerTimeout

RESOLVE_SECONDS = 0.5
"""How long a file system may take; one that hangs must not keep a request from being shown."""

FILE_FIELDS = ("file_path", "notebook_path", "path")


class PathResolver:
    """Resolves paths in a thread, because a file system may hang. A path that is not resolved in time stays as written,
    and no allow rule for files matches it."""

    def __init__(self) -> None:
        self._thread = WorkerThread("paths")

    async def resolve(self, event: RuntimeEvent, cwd: str) -> ResolvedPaths:
        """The real paths of a hook call, or the paths as written where they cannot be resolved."""
        try:
            return await self._thread.run(RESOLVE_SECONDS, resolve_paths, event.payload.get("tool_input"), cwd)
        except WorkerTimeout:
            return ResolvedPaths(cwd=cwd)


def resolve_paths(tool_input: Any, cwd: str) -> ResolvedPaths:
    """The real paths of a tool use."""
    real = _real(cwd) or cwd
    fields = tool_input if isinstance(tool_input, dict) else {}
    written = next((v for f in FILE_FIELDS if isinstance(v := fields.get(f), str) and v), None)
    if written is None:
        return ResolvedPaths(cwd=real)
    return ResolvedPaths(cwd=real, path=_real(absolute_path(written, real, str(Path.home()))))


def _real(path: str) -> str | None:
    """The path with every symlink followed; None when the system cannot tell."""
    if not path or len(path) > MAX_PATH_LENGTH or "\0" in path:
        return None
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def folds_case(folder: str) -> bool:
    """True if the file system of this folder ignores case."""
    return Path(folder.swapcase()).exists() and Path(folder).samefile(folder.swapcase())
