"""Processes that we watch or signal: each is known for good by its start time, never by its number alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

from quarterdeck.core.model.state import ProcessId

PROC = "/proc"


def process_id(pid: int) -> ProcessId | None:
    """The process that runs under this number, where the system tells; None for one that has ended."""
    found = _stat(pid)
    return found[0] if found else None


def process_table() -> dict[ProcessId, int]:
    """Every process that runs, with the number of its parent, where the system tells."""
    try:
        pids = [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208 hundreds of names
    except OSError:
        return {}
    return dict(found for pid in pids if (found := _stat(pid)))


def _stat(pid: int) -> tuple[ProcessId, int] | None:
    fields = _read(f"{PROC}/{pid}/stat").rpartition(b")")[2].split()
    if not fields or fields[0] in (b"Z", b"X", b"x"):
        return None
    return ProcessId(pid, fields[19].decode()), int(fields[1])


def agent_below(pid: int, keeper: str) -> ProcessId | None:
    """The agent below its keepers, which have this file in their words; None before it is there."""
    mark = os.fsencode(keeper)
    while mark in _read(f"{PROC}/{pid}/cmdline").split(b"\0"):
        children = _read(f"{PROC}/{pid}/task/{pid}/children").split()
        if not children:
            return None
        pid = int(children[0])
    return process_id(pid)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


class Watch:
    """One process that is watched until it ends; `ended` is called once then. Where the system has no descriptors for
    processes nobody calls, and whoever watches must look."""

    def __init__(self, process: ProcessId, ended: Callable[[], None]) -> None:
        self.process = process
        self._ended = ended
        self._held: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self._held = os.pidfd_open(process.pid)
            asyncio.get_running_loop().add_reader(self._held, self._end)
        if not self.runs():
            asyncio.get_running_loop().call_soon(self._end)

    @property
    def blind(self) -> bool:
        """Whether nobody will call."""
        return self._held is None

    def runs(self) -> bool:
        return process_id(self.process.pid) == self.process

    def send(self, number: signal.Signals) -> None:
        """Signal this very process, if it still runs: the descriptor is of whoever had the number when we took it."""
        if not self.runs():
            return
        with contextlib.suppress(ProcessLookupError):
            if self._held is not None:
                signal.pidfd_send_signal(self._held, number)
            else:
                os.kill(self.process.pid, number)

    def close(self) -> None:
        if self._held is not None:
            asyncio.get_running_loop().remove_reader(self._held)
            os.close(self._held)
        self._held, self._ended = None, lambda: None

    def _end(self) -> None:
        ended = self._ended
        self.close()
        ended()
