"""A pseudo-terminal with a program in it. Standard library only."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from quarterdeck.sessions.host import supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Terminal:
    """A pseudo-terminal with a program in it, below a supervisor."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.master, self._slave = os.openpty()
        self.size = (0, 0)
        self.resize(settings["cols"], settings["rows"])
        reader, writer = os.pipe()
        host = os.getpid()
        self.supervisor_pid = os.fork()
        if not self.supervisor_pid:
            self._supervise(settings, host, writer)
        os.close(writer)
        os.set_blocking(self.master, False)
        self.supervisor_pipe = reader
        pid, self.start = read_line(reader).split()
        self.pid = int(pid)

    def _supervise(self, settings: dict[str, Any], host: int, pipe: int) -> NoReturn:
        try:
            supervisor.close_others(self._slave, pipe)
            status = supervisor.supervise(
                lambda: self._execute(settings),
                die_with=host,
                grace_seconds=supervisor.GRACE_SECONDS,
                wake=True,
                spare=self._slave,
                started=lambda child: write_line(pipe, f"{child} {start_time(child)}"),
            )
            write_line(pipe, str(status))
        finally:
            os._exit(0)

    def _execute(self, settings: dict[str, Any]) -> NoReturn:
        os.setsid()
        fcntl.ioctl(self._slave, termios.TIOCSCTTY, 0)
        for number in (0, 1, 2):
            os.dup2(self._slave, number)
        os.close(self._slave)
        try:
            os.chdir(settings["cwd"])
        except OSError as error:
            os.write(2, f"{settings['cwd']}: {error.strerror}\r\n".encode())
            os._exit(126)
        supervisor.execute(settings["argv"])

    def resize(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def is_in_foreground(self) -> bool:
        """True if the program itself reads the keys, not one that it started."""
        try:
            return os.tcgetpgrp(self.master) == self.pid
        except OSError:
            return False


def write_line(pipe: int, text: str) -> None:
    os.write(pipe, text.encode() + b"\n")


def read_line(pipe: int) -> str:
    """Read up to the end of the line and no further; empty at the end of the pipe."""
    line = b""
    while (letter := os.read(pipe, 1)) not in (b"", b"\n"):
        line += letter
    return line.decode()


def start_time(pid: int) -> str:
    found = supervisor.read_process(pid) if supervisor.HAS_PROC else None
    return found.start if found else "0"
