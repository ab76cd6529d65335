"""A pseudo-terminal with a program in it. Standard library only."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

from quarterdeck.sessions.host import supervisor as keeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Terminal:
    """A pseudo-terminal with a program in it, below its keeper."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.master, self._slave = os.openpty()
        self.size = (0, 0)
        self.resize(settings["cols"], settings["rows"])
        heard, told = os.pipe()
        above = os.getpid()
        self.keeper = os.fork()
        if not self.keeper:
            self._keep(settings, above, told)
        os.close(told)
        os.set_blocking(self.master, False)
        self.keeper_says = heard
        pid, self.start = read_line(heard).split()
        self.pid = int(pid)

    def _keep(self, settings: dict[str, Any], above: int, told: int) -> NoReturn:
        try:
            keeper.close_others(self._slave, told)
            status = keeper.keep(
                lambda: self._execute(settings),
                die_with=above,
                grace_seconds=keeper.GRACE_SECONDS,
                wake=True,
                spare=self._slave,
                started=lambda child: tell(told, f"{child} {start_of(child)}"),
            )
            tell(told, str(status))
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
        keeper.execute(settings["argv"])

    def resize(self, cols: int, rows: int) -> None:
        self.size = (cols, rows)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def in_front(self) -> bool:
        """Whether the program itself reads the keys, and none that it started."""
        try:
            return os.tcgetpgrp(self.master) == self.pid
        except OSError:
            return False


def tell(pipe: int, words: str) -> None:
    os.write(pipe, words.encode() + b"\n")


def read_line(pipe: int) -> str:
    """Up to the end of the line and no further; empty at the end of all."""
    line = b""
    while (letter := os.read(pipe, 1)) not in (b"", b"\n"):
        line += letter
    return line.decode()


def start_of(pid: int) -> str:
    found = keeper.look(pid) if keeper.HAS_PROC else None
    return found.start if found else "0"
