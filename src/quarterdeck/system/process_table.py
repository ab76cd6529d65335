"""The process table: processes, their start times and their parents. Read from /proc on Linux, from `ps` elsewhere."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId

PROC = "/proc"
HAS_PROC = Path(PROC, "self", "stat").exists()
CHUNK = 1 << 16
PS = ("ps", "-o", "ppid=,stat=,lstart=", "-p")
ENDED = "ZXx"
FIRST_NAMESPACE = "pid:[4026531836]"
"""The machine's own pid namespace, outside any container: a constant of the kernel."""


class ProcessInfo(Struct, frozen=True):
    """One process. `session` is the pid of its session leader: an ancestor, even if a parent between has ended."""

    id: ProcessId
    parent: int
    session: int
    name: str = ""

    @property
    def pid(self) -> int:
        return self.id.pid


def read_proc(pid: int) -> ProcessInfo | None:
    """A running process; None for one that has ended, even if it was not reaped yet."""
    return _from_proc(pid) if HAS_PROC else _from_ps(pid)


def process_id(pid: int) -> ProcessId | None:
    """The running process with this pid; None for one that has ended."""
    found = read_proc(pid)
    return found.id if found else None


def runs(process: ProcessId) -> bool:
    """True if this very process still runs, and not another one with its pid."""
    return process_id(process.pid) == process


def resident(process: ProcessId) -> int | None:
    """The memory of a process in bytes; None if the system does not show it."""
    fields = read_small(f"{PROC}/{process.pid}/statm").split() if HAS_PROC and runs(process) else []
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else None


def alive(pid: int) -> bool:
    """True if any process with this pid runs; one that has ended but was not reaped yet does not count."""
    if HAS_PROC:
        return _from_proc(pid) is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def ancestry(pid: int, find: Callable[[int], ProcessInfo | None] = read_proc) -> Iterator[ProcessInfo]:
    """A process and its ancestors, the nearest first. Each is given once: a table that was read while pids were reused
    may have a circle."""
    seen: set[int] = set()
    while pid not in seen and (proc := find(pid)) is not None:
        seen.add(pid)
        yield proc
        pid = proc.parent


def process_table() -> dict[int, ProcessInfo]:
    """Every process of this system; empty without /proc."""
    found = (_from_proc(pid) for pid in _pids())
    return {proc.pid: proc for proc in found if proc is not None}


def _pids() -> Iterator[int]:
    if HAS_PROC:
        with os.scandir(PROC) as entries:
            yield from [int(entry.name) for entry in entries if entry.name.isdigit()]


def _from_proc(pid: int) -> ProcessInfo | None:
    line = read_once(f"{PROC}/{pid}/stat").decode(errors="replace")
    if not line:
        return None
    head, _, tail = line.rpartition(")")
    fields = tail.split(maxsplit=20)
    if fields[0] in ENDED:
        return None
    return ProcessInfo(ProcessId(pid, fields[19]), int(fields[1]), int(fields[3]), name=head.partition("(")[2])


def read_once(path: str) -> bytes:
    """Read a file of one process in /proc by a single call, because there are hundreds: the kernel gives all of it at
    once, up to the size asked for. Empty if it cannot be read."""
    return _read(path, at_once=True)


def read_small(path: str) -> bytes:
    """Read a file in /proc that the kernel gives in pieces. Empty if it cannot be read."""
    return _read(path, at_once=False)


def _read(path: str, *, at_once: bool) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    parts = []
    try:
        while part := os.read(file, CHUNK):
            parts.append(part)
            if at_once and len(part) < CHUNK:
                break
    except OSError:
        return b""
    finally:
        os.close(file)
    return b"".join(parts)


def _from_ps(pid: int) -> ProcessInfo | None:
    try:
        result = subprocess.run([*PS, str(pid)], capture_output=True, text=True, timeout=5, env={"LC_ALL": "C"})  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    fields = result.stdout.split(maxsplit=2)
    if len(fields) < 3 or fields[1][0] in ENDED:
        return None
    return ProcessInfo(ProcessId(pid, fields[2].strip()), int(fields[0]), 0)


def sees_all_processes() -> bool:
    """True if the process table has all processes of this machine. In a container it has not, even if the container
    shares the network with the rest."""
    return pid_namespace() == FIRST_NAMESPACE


def pid_namespace() -> str:
    """The namespace of this process's pids; another container has another one. Empty if the system has none."""
    try:
        return str(Path(PROC, "self", "ns", "pid").readlink())
    except OSError:
        return ""
