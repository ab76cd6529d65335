"""The commands to systemd, and what it says of the service."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.system.service.service_manager import ServiceState
from quarterdeck.system.service.systemd import Systemd, read_state, with_runtime_folder

RUNNING = ServiceState(at_login=True, pid=7, word="active")


def verbs(state: ServiceState, *, is_changed: bool) -> list[str]:
    commands = Systemd({"HOME": "/home/me"}).install_commands(state, is_changed=is_changed)
    return [command[3] for command in commands]


def test_a_running_service_is_restarted_only_for_a_change() -> None:
    assert verbs(RUNNING, is_changed=False) == []
    assert verbs(RUNNING, is_changed=True) == ["daemon-reload", "restart"]


def test_a_new_or_stopped_service_is_enabled_and_started() -> None:
    assert verbs(ServiceState(), is_changed=True) == ["daemon-reload", "enable", "reset-failed", "start"]
    assert verbs(ServiceState(at_login=True), is_changed=False) == ["reset-failed", "start"]


def test_the_state_is_read_from_what_systemctl_shows() -> None:
    shown = "MainPID=7\nActiveState=active\nUnitFileState=enabled\n"
    assert read_state(shown) == RUNNING
    assert read_state("MainPID=0\nActiveState=failed\nUnitFileState=\n") == ServiceState(word="failed", is_failing=True)
    assert read_state("") == ServiceState()


def test_the_unit_is_in_the_folder_of_the_users_settings() -> None:
    assert Systemd({"HOME": "/home/me"}).file == Path("/home/me/.config/systemd/user/quarterdeck.service")
    assert Systemd({"XDG_CONFIG_HOME": "/x"}).file == Path("/x/systemd/user/quarterdeck.service")


def test_a_missing_runtime_folder_is_added_only_where_a_manager_has_its_socket(tmp_path: Path) -> None:
    assert with_runtime_folder({}, tmp_path) == {}
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd" / "private").touch()
    assert with_runtime_folder({}, tmp_path) == {"XDG_RUNTIME_DIR": str(tmp_path)}
    assert with_runtime_folder({"XDG_RUNTIME_DIR": "/mine"}, tmp_path) == {"XDG_RUNTIME_DIR": "/mine"}
