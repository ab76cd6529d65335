"""The home of a hub: the same folder as a daemon's, with files of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quarterdeck.daemon.setup.home_files import Home


class HubHome(Home):
    """The files of one hub. A daemon may use the same home: only the token is shared."""

    def __init__(self, path: Path, started: Mapping[str, Any] | None = None) -> None:
        super().__init__(path, started)
        self.note = path / "run" / "hub.json"
        self.port_file = path / "run" / "hub-port"
        self.lock_file = path / "run" / "hub.lock"
        self.database = path / "hub.db"
        self.log = path / "log" / "hub.log"
