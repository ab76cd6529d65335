"""Claude Code's own process files; best effort, and only the files that hold no secret."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.drivers.base import SessionProcess
from quarterdeck.system.process_table import HAS_PROC, ancestry, pid_namespace, read_proc
from quarterdeck.system.safe_open import read_regular

# Far more than a real one has; all are read by a poll.
MAX_FILE = 64 * 1024
RECENT_NS = 2_000_000_000
"""A file written this recently may change again without a change of its time and size."""


class _CachedFile(Struct, frozen=True):
    """A file as it was read; a change of the file changes its `mark`."""

    mark: tuple[int, int, int]
    process: SessionProcess | None


class SessionsFolder:
    """The `<pid>.json` files of a folder. No other file there is read: some hold secrets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, _CachedFile] = {}
        self._namespace = pid_namespace()
        self._own_ids = _own_processes()

    def read(self) -> list[SessionProcess]:
        """The content of every file; only changed files are read again."""
        known: dict[str, _CachedFile] = {}
        for entry in self._entries():
            with contextlib.suppress(OSError):
                known[entry.name] = self._read_entry(entry)
        self._known = known
        return [file.process for file in known.values() if file.process is not None]

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._folder) as entries:
                return [e for e in entries if e.name.endswith(".json") and e.name[:-5].isdigit()]
        except OSError:
            return []

    def _read_entry(self, entry: os.DirEntry[str]) -> _CachedFile:
        found = entry.stat(follow_symlinks=False)
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        known = self._known.get(entry.name)
        if known is not None and known.mark == mark and time.time_ns() - found.st_mtime_ns > RECENT_NS:
            return known
        return _CachedFile(mark, read_process(entry.path))

    def identity(self, process: SessionProcess) -> ProcessId | None:
        """The process that a file describes, if it runs here. The start time is compared: a file may be left over, and
        its pid reused."""
        if process.domain and self._namespace and not process.domain.endswith(self._namespace):
            return None
        proc = read_proc(process.pid)
        if proc is None or (HAS_PROC and proc.id.start != process.start) or process.pid in self._own_ids:
            return None
        return proc.id


def _own_processes() -> frozenset[int]:
    """The pids of the first process, this one and its ancestors. None of them is an agent, whatever a file says, or
    every process on this machine would descend from an agent. An agent may have started the daemon, though: then its
    ancestors are not included."""
    above = () if "CLAUDECODE" in os.environ else ancestry(os.getpid())
    return frozenset({1, os.getpid(), *(proc.pid for proc in above)})


def _pane(named: object) -> str:
    """The pane in `session:@window.%pane`, as newer versions name it; empty for anything else."""
    pane = str(named).rpartition(".")[2]
    return pane if pane[:1] == "%" and pane[1:].isdigit() else ""


def read_process(path: str) -> SessionProcess | None:
    """Read one file; None if it is missing, incomplete, not a regular file or not about its process."""
    file = Path(path)
    try:
        content = json.loads(read_regular(file, MAX_FILE) or b"")
        changed_at = float(content.get("statusUpdatedAt", 0)) / 1000
        if str(content["pid"]) != file.stem or not math.isfinite(changed_at):
            return None
        waiting_for = content.get("waitingFor")
        return SessionProcess(
            session_id=str(content["sessionId"]),
            pid=int(content["pid"]),
            status=str(content.get("status", "")),
            waiting_for=waiting_for if isinstance(waiting_for, str) else None,
            changed_at=changed_at,
            start=str(content.get("procStart", "")),
            domain=str(content.get("pidDomain", "")),
            pane=_pane(content.get("tmux")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
