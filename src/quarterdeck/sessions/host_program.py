"""The command lines of the programs that keep agents: they are started by the path of their file."""

from __future__ import annotations

import sys
from pathlib import Path

from quarterdeck.errors import Refused

UPGRADED = "Quarterdeck was upgraded while this daemon ran: qd stop, then qd up"

Stamps = dict[str, tuple[int, int]]


class HostPrograms:
    """The programs in a folder, as their files were when this process started. `base` has modules that they load."""

    def __init__(self, folder: Path, base: HostPrograms | None = None) -> None:
        self.folder, self._base = folder, base
        self._stamps = read_stamps(folder)

    def command(self, program: str, *options: str) -> list[str]:
        """The command line of a program, or Refused if an upgrade has removed or replaced any file that it may load:
        this process could not talk to another version of it."""
        if not self._are_unchanged():
            raise Refused(UPGRADED)
        return [sys.executable, "-I", "-S", str(self.folder / program), *options]

    def _are_unchanged(self) -> bool:
        is_same = bool(self._stamps) and read_stamps(self.folder) == self._stamps
        return is_same and (self._base is None or self._base._are_unchanged())


def read_stamps(folder: Path) -> Stamps:
    """The size and the time of each module in a folder; empty if one goes away meanwhile."""
    try:
        found = [(path.name, path.stat()) for path in folder.glob("*.py")]
    except OSError:
        return {}
    return {name: (status.st_size, status.st_mtime_ns) for name, status in found}


HOSTS = HostPrograms(Path(__file__).with_name("host"))
