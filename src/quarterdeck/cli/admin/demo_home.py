"""The temporary homes of demos: made, noted as whose they are, and swept when their demo was killed."""

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
    """A home of our own, which says who we are."""
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    note_process(home, "demo", os.getpid())
    return home


def note_process(home: Path, name: str, pid: int) -> None:
    """Write down a process of this demo, by its number and when it began."""
    found = read_proc(pid)
    if found is not None:
        noted = {**_noted(home), name: [found.id.pid, found.id.start]}
        (home / NOTE).write_text(json.dumps(noted), encoding="utf-8")


def sweep(folder: Path | None = None) -> list[Path]:
    """Remove the homes of demos of ours that were killed, and end their daemons; gives what is gone."""
    return [home for home in (folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*") if _swept(home)]


def _swept(home: Path) -> bool:
    """Only a folder of ours that says whose it is, and only when that very process runs no more."""
    found = home.lstat()
    noted = {name: _process(value) for name, value in _noted(home).items()}
    demo = noted.get("demo")
    is_ours = found.st_uid == os.getuid() and not home.is_symlink() and home.is_dir()
    if not is_ours or demo is None or runs(demo):
        return False
    daemon = noted.get("daemon")
    if daemon is not None and not _ended(daemon):
        return False
    shutil.rmtree(home, ignore_errors=True)
    return True


def _ended(process: ProcessId) -> bool:
    """End a daemon that nobody needs any more; whether it has."""
    deadline = time.monotonic() + END_SECONDS
    if runs(process):
        os.kill(process.pid, signal.SIGTERM)
    while runs(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not runs(process)


def _noted(home: Path) -> dict[str, Any]:
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
