"""The files of the service: what they say, and that they hold no more than the home and PATH."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from quarterdeck.errors import Refused
from quarterdeck.system.service.service_files import (
    ServiceDefinition,
    absolute_folders,
    home_in_agent,
    home_in_unit,
    is_own_file,
    launchd_agent,
    systemd_unit,
)

SERVICE = ServiceDefinition(
    command=("/opt/py 3/bin/python", "-m", "quarterdeck", "daemon", "--quiet", "--config", "/a/$x 100%"),
    home=Path('/home/me/a "b" \\c %d'),
    path="/usr/bin:/bin",
    log=Path("/home/me/log/service.log"),
)


def test_a_stop_of_the_unit_ends_the_daemon_only_and_a_crash_starts_it_again() -> None:
    lines = systemd_unit(SERVICE).splitlines()
    assert {"KillMode=process", "OOMPolicy=continue", "Restart=on-failure", "WantedBy=default.target"} <= set(lines)


def test_the_unit_quotes_what_systemd_would_expand() -> None:
    lines = systemd_unit(SERVICE).splitlines()
    assert lines[8] == (
        'ExecStart="/opt/py 3/bin/python" "-m" "quarterdeck" "daemon" "--quiet" "--config" "/a/$$x 100%%"'
    )
    assert lines[9] == 'Environment="QUARTERDECK_HOME=/home/me/a \\"b\\" \\\\c %%d"'


def test_a_stop_of_the_agent_ends_the_daemon_only_and_a_crash_starts_it_again() -> None:
    agent = plistlib.loads(launchd_agent(SERVICE).encode())
    assert (agent["AbandonProcessGroup"], agent["KeepAlive"]) == (True, {"SuccessfulExit": False})
    assert agent["ProgramArguments"] == list(SERVICE.command)
    assert agent["EnvironmentVariables"] == {"QUARTERDECK_HOME": str(SERVICE.home), "PATH": "/usr/bin:/bin"}
    assert (agent["Umask"], agent["StandardErrorPath"]) == (0o077, "/home/me/log/service.log")


def test_each_file_is_recognised_with_its_home() -> None:
    unit, agent = systemd_unit(SERVICE), launchd_agent(SERVICE)
    assert (is_own_file(unit), home_in_unit(unit)) == (True, str(SERVICE.home))
    assert (is_own_file(agent), home_in_agent(agent)) == (True, str(SERVICE.home))
    assert (is_own_file("[Service]"), home_in_unit("[Service]"), home_in_agent("<plist>")) == (False, "", "")


@pytest.mark.parametrize("write", [systemd_unit, launchd_agent])
def test_a_path_with_a_control_character_is_refused(write: object) -> None:
    assert callable(write)
    with pytest.raises(Refused, match="choose another path"):
        write(replace(SERVICE, home=Path("/a\nExecStart=/bin/sh")))


def test_a_path_keeps_absolute_folders_once() -> None:
    assert absolute_folders("/a:.:/b::/a:bin") == "/a:/b"
