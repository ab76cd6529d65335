"""The terminal that a process has in its hands: keys typed into a terminal go to its foreground process group only."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from quarterdeck.system.process_table import HAS_PROC, PROC, read_once

PS = ("ps", "-o", "pgid=,tpgid=,tty=", "-p")


def foreground_terminal(pid: int) -> int | None:
    """The device number of the terminal whose foreground process group this process is in; None if it is in none."""
    return _from_proc(pid) if HAS_PROC else _from_ps(pid)


def _from_proc(pid: int) -> int | None:
    line = read_once(f"{PROC}/{pid}/stat").decode(errors="replace")
    fields = line.rpartition(")")[2].split(maxsplit=6)
    if len(fields) < 6:
        return None
    group, terminal, foreground = int(fields[2]), int(fields[4]), int(fields[5])
    if not terminal or group != foreground:
        return None
    return os.makedev((terminal >> 8) & 0xFFF, (terminal & 0xFF) | ((terminal >> 12) & 0xFFF00))


def _from_ps(pid: int) -> int | None:
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        result = subprocess.run([*PS, str(pid)], capture_output=True, text=True, timeout=5)  # noqa: S603
        group, foreground, terminal = result.stdout.split()
        return terminal_device(f"/dev/{terminal}") if int(group) == int(foreground) else None
    return None


def terminal_device(path: str) -> int | None:
    """The device number of a terminal; None if there is no such terminal."""
    try:
        return Path(path).stat().st_rdev
    except OSError:
        return None
