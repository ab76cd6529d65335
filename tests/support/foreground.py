"""A process in the foreground of a terminal of its own."""

import os
import pty
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.daemon import until


@contextmanager
def terminal_process() -> Iterator[tuple[int, str]]:
    """A process that waits, the leader of its terminal's foreground group, and the path of that terminal."""
    pid, control = pty.fork()
    if not pid:
        os.execvp("sh", ["sh", "-c", "echo ready; exec sleep 600"])
    try:
        until(lambda: b"ready" in os.read(control, 100), what="the process in its terminal")
        yield pid, os.readlink(f"/proc/{pid}/fd/0")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(control)
