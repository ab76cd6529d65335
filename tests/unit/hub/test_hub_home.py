"""A hub and a daemon may share a home."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.config.home import prepare_home
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.hub.hub_home import HubHome


def test_a_hub_has_files_of_its_own_beside_a_daemon(tmp_path: Path) -> None:
    prepare_home(tmp_path / "home")
    hub, daemon = HubHome(tmp_path / "home"), Home(tmp_path / "home")
    names = ("note", "port_file", "lock_file", "database", "log")
    assert all(getattr(hub, name) != getattr(daemon, name) for name in names)
    hub.lock()
    daemon.lock()
    hub.unlock()
    daemon.unlock()
    hub.write_note(pid=1, url="http://127.0.0.1:1")
    assert daemon.read_note() is None
    assert hub.token("token") == daemon.token("token")
