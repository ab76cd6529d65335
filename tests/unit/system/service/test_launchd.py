"""The commands to launchd, and what it says of the service."""

from __future__ import annotations

from pathlib import Path

from quarterdeck.system.service.launchd import Launchd, read_state
from quarterdeck.system.service.service_manager import ServiceState

PRINTED = "gui/501/quarterdeck.daemon = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 812\n}\n"
RUNNING = ServiceState(at_login=True, pid=812, word="running")


def verbs(state: ServiceState, *, is_changed: bool) -> list[str]:
    return [command[1] for command in Launchd({"HOME": "/u"}).install_commands(state, is_changed=is_changed)]


def test_the_state_is_read_from_what_launchctl_prints() -> None:
    assert read_state(PRINTED) == RUNNING
    assert read_state("x = {\n\tstate = not running\n}") == ServiceState(at_login=True, word="not running")


def test_a_loaded_agent_is_loaded_again_only_for_a_change() -> None:
    assert verbs(RUNNING, is_changed=False) == []
    assert verbs(RUNNING, is_changed=True) == ["bootout", "enable", "bootstrap"]
    assert verbs(ServiceState(), is_changed=True) == ["enable", "bootstrap"]
    assert verbs(ServiceState(at_login=True), is_changed=False) == ["kickstart"]


def test_the_property_list_is_where_a_login_looks() -> None:
    assert Launchd({"HOME": "/u"}).file == Path("/u/Library/LaunchAgents/quarterdeck.daemon.plist")
