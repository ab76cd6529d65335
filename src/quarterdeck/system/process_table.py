"""The process table: who runs, since when, and from whom it descends. Linux reads /proc, other systems ask `ps`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from quarterdeck.core.model.state import ProcessId

PROC = "/proc"
HAS_PROC = Path(PROC, "self", "stat").exists()
CHUNK = 1 << 16
PS = ("ps", "-o", "ppid=,stat=,lstart=", "-p")
ENDED = "ZXx"
FIRST_NAMESPACE = "pid:[4026531836]"
"""Where the machine itself runs: the kernel's own constant."""


class Proc(Struct, frozen=True):
    """One process. `session` is the pid of who leads its session: an ancestor, even when a parent between has gone."""

    id: ProcessId
    parent: int
    session: int
    name: str = ""

    @property
    def pid(self) -> int:
        return self.id.pid


def read_proc(pid: int) -> Proc | None:
    """A process that runs; None for one that has ended, waited for or not."""
    return _from_proc(pid) if HAS_PROC else _from_ps(pid)


def runs(process: ProcessId) -> bool:
    """Whether this very process still runs, and not another one under its number."""
    found = read_proc(process.pid)
    return found is not None and found.id == process


def resident(process: ProcessId) -> int | None:
    """How many bytes of memory a process has, where the system tells."""
    fields = read_small(f"{PROC}/{process.pid}/statm").split() if HAS_PROC and runs(process) else []
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else None


def alive(pid: int) -> bool:
    """Whether any process runs under this number; one that has ended and was not yet waited for does not."""
    if HAS_PROC:
        return _from_proc(pid) is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def process_table() -> dict[int, Proc]:
    """Every process of this system, where /proc tells."""
    found = (_from_proc(pid) for pid in _pids())
    return {proc.pid: proc for proc in found if proc is not None}


def _pids() -> Iterator[int]:
    if HAS_PROC:
        with os.scandir(PROC) as entries:
            yield from [int(entry.name) for entry in entries if entry.name.isdigit()]


def _from_proc(pid: int) -> Proc | None:
    line = read_small(f"{PROC}/{pid}/stat").decode(errors="replace")
    if not line:
        return None
    head, _, tail = line.rpartition(")")
    fields = tail.split()
    if fields[0] in ENDED:
        return None
    return Proc(ProcessId(pid, fields[19]), int(fields[1]), int(fields[3]), name=head.partition("(")[2])


def read_small(path: str) -> bytes:
    """A file of the kernel's own, by as few calls as it takes: there are hundreds. Empty when it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(file, CHUNK):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(file)


def _from_ps(pid: int) -> Proc | None:
    try:
        asked = subprocess.run([*PS, str(pid)], capture_output=True, text=True, timeout=5, env={"LC_ALL": "C"})  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    fields = asked.stdout.split(maxsplit=2)
    if len(fields) < 3 or fields[1][0] in ENDED:
        return None
    return Proc(ProcessId(pid, fields[2].strip()), int(fields[0]), 0)


def sees_everyone() -> bool:
    """Whether our process table has all processes of this machine: in a container it has not, though it may share the
    network with the rest."""
    return pid_namespace() == FIRST_NAMESPACE


def pid_namespace() -> str:
    """Which processes our pids name: another container's are not ours. Empty where the system has no such thing."""
    try:
        return str(Path(PROC, "self", "ns", "pid").readlink())
    except OSError:
        return ""
