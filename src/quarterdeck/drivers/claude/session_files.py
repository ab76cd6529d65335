"""What Claude Code's own process files say; best effort, and only the files that hold no secret."""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import time
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId
from quarterdeck.system.process_table import HAS_PROC, pid_namespace, read_proc

MAX_FILE = 64 * 1024
RECENT_NS = 2_000_000_000
"""A file written so lately may be written again without its time and size telling."""


class Process(Struct, frozen=True):
    """What a sessions file says of a session; `changed_at` is when its status last changed, `start` when the process
    began in the system's own count, `domain` on which machine and in which container."""

    session_id: str
    pid: int
    status: str
    waiting_for: str | None
    changed_at: float
    start: str = ""
    domain: str = ""


class _Known(Struct, frozen=True):
    """A file as it was read; `mark` tells whether it has changed since."""

    mark: tuple[int, int, int]
    said: Process | None


class SessionsFolder:
    """The `<pid>.json` files of a folder, and nothing else there: their siblings hold secrets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, _Known] = {}
        self._namespace = pid_namespace()
        self._ours = _own_line()

    def read(self) -> list[Process]:
        """What every file says; only what has changed is read again."""
        known: dict[str, _Known] = {}
        for entry in self._entries():
            with contextlib.suppress(OSError):
                known[entry.name] = self._look(entry)
        self._known = known
        return [file.said for file in known.values() if file.said is not None]

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._folder) as entries:
                return [e for e in entries if e.name.endswith(".json") and e.name[:-5].isdigit()]
        except OSError:
            return []

    def _look(self, entry: os.DirEntry[str]) -> _Known:
        found = entry.stat(follow_symlinks=False)
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        known = self._known.get(entry.name)
        if known is not None and known.mark == mark and time.time_ns() - found.st_mtime_ns > RECENT_NS:
            return known
        return _Known(mark, read_process(entry.path))

    def of_pid(self, pid: int) -> Process | None:
        """What the file of one process says."""
        return read_process(str(self._folder / f"{pid}.json"))

    def identity(self, said: Process) -> ProcessId | None:
        """The process a file speaks of, if it runs here and is that one: a file may stay behind, and its number come
        again."""
        if said.domain and self._namespace and not said.domain.endswith(self._namespace):
            return None
        proc = read_proc(said.pid)
        if proc is None or (HAS_PROC and proc.id.start != said.start) or said.pid in self._ours:
            return None
        return proc.id


def _own_line() -> frozenset[int]:
    """The first process, this one and those above it: whatever a file says, none of them is an agent, or everybody
    on this machine would descend from one. But an agent may have started us."""
    line = {1, os.getpid()}
    pid = os.getpid()
    while "CLAUDECODE" not in os.environ and pid > 1 and (proc := read_proc(pid)) is not None:
        line.add(pid)
        pid = proc.parent
    return frozenset(line)


def read_process(path: str) -> Process | None:
    """What one file says; None when it is not there, not whole, not a plain file or not of a process."""
    file = Path(path)
    try:
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE:
            return None
        content = json.loads(file.read_bytes())
        changed_at = float(content.get("statusUpdatedAt", 0)) / 1000
        if str(content["pid"]) != file.stem or not math.isfinite(changed_at):
            return None
        waiting_for = content.get("waitingFor")
        return Process(
            session_id=str(content["sessionId"]),
            pid=int(content["pid"]),
            status=str(content.get("status", "")),
            waiting_for=waiting_for if isinstance(waiting_for, str) else None,
            changed_at=changed_at,
            start=str(content.get("procStart", "")),
            domain=str(content.get("pidDomain", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
