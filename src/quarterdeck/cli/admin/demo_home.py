"""The temporary homes of demos. Each notes its processes, so that the next demo removes homes of killed ones."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from quarterdeck.core.model.state import ProcessId
from quarterdeck.system.process_table import read_proc, runs

PREFIX = "qd-demo-"
NOTE = "demo.json"
END_SECONDS = 5.0


def make_home() -> Path:
    """Create a temporary home that notes this process."""
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    note_process(home, "demo", os.getpid())
    return home


def note_process(home: Path, name: str, pid: int) -> None:
    """Note a process of this demo by its pid and start time; a pid alone may be used again by another process."""
    found = read_proc(pid)
    if found is not None:
        notes = {**_notes(home), name: [found.id.pid, found.id.start]}
        (home / NOTE).write_text(json.dumps(notes), encoding="utf-8")


def sweep(folder: Path | None = None) -> list[Path]:
    """Remove the homes of killed demos and end their daemons; returns the removed homes."""
    return [home for home in (folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*") if _remove_stale(home)]


def _remove_stale(home: Path) -> bool:
    """Remove a home, but only one of this user whose noted demo process has ended. True when removed."""
    found = home.lstat()
    processes = {name: _process(value) for name, value in _notes(home).items()}
    demo = processes.get("demo")
    is_own = found.st_uid == os.getuid() and not home.is_symlink() and home.is_dir()
    if not is_own or demo is None or runs(demo):
        return False
    daemon = processes.get("daemon")
    if daemon is not None and not _end(daemon):
        return False
    shutil.rmtree(home, ignore_errors=True)
    return True


def _end(process: ProcessId) -> bool:
    """End an abandoned daemon; True when it has ended."""
    deadline = time.monotonic() + END_SECONDS
    if runs(process):
        os.kill(process.pid, signal.SIGTERM)
    while runs(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not runs(process)


def _notes(home: Path) -> dict[str, Any]:
    try:
        found = json.loads((home / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _process(value: Any) -> ProcessId | None:
    match value:
        case [int(pid), str(start)] if pid > 1:
            return ProcessId(pid, start)
        case _:
            return None
