"""Watches and signals processes: each is identified by its pid and start time, never by its pid alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

from quarterdeck.core.model.state import ProcessId
from quarterdeck.system.process_table import PROC, process_id, read_small, runs


def agent_below(pid: int) -> ProcessId | None:
    """The agent below its two supervisors; None before it has started. The supervisors are recognised by having the
    same command line: before they start, a process in a tmux pane has tmux's command line, or none."""
    lower = _first_child(pid)
    agent = _first_child(lower) if lower and _command_line(lower) == _command_line(pid) else None
    return process_id(agent) if agent else None


def _first_child(pid: int) -> int | None:
    children = read_small(f"{PROC}/{pid}/task/{pid}/children").split()
    return int(children[0]) if children else None


def _command_line(pid: int) -> bytes:
    return read_small(f"{PROC}/{pid}/cmdline")


class ProcessWatch:
    """Watches one process until it ends and calls `on_end` once then. On systems without pidfds it never calls, and
    the caller must poll `runs`."""

    def __init__(self, process: ProcessId, on_end: Callable[[], None]) -> None:
        self.process = process
        self._on_end = on_end
        self._pidfd: int | None = None
        with contextlib.suppress(AttributeError, OSError):
            self._pidfd = os.pidfd_open(process.pid)
            asyncio.get_running_loop().add_reader(self._pidfd, self._end)
        if not self.runs():
            asyncio.get_running_loop().call_soon(self._end)

    @property
    def needs_polling(self) -> bool:
        """True if `on_end` will not be called."""
        return self._pidfd is None

    def runs(self) -> bool:
        return runs(self.process)

    def send(self, number: signal.Signals) -> None:
        """Signal this very process, if it still runs: a pidfd belongs to the process that had the pid when it was
        opened."""
        if not self.runs():
            return
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, number)
            else:
                os.kill(self.process.pid, number)

    def close(self) -> None:
        if self._pidfd is not None:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
        self._pidfd, self._on_end = None, lambda: None

    def _end(self) -> None:
        on_end = self._on_end
        self.close()
        on_end()
