"""`qd service` without a service manager: what it shows before a change, and which files it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from quarterdeck.cli.admin.login_service import check_owner, file_diff, read_file
from quarterdeck.config.home import home_path
from quarterdeck.errors import Refused
from quarterdeck.system.service.service_files import ServiceDefinition, systemd_unit
from quarterdeck.system.service.systemd import Systemd

MANAGER = Systemd({"HOME": "/home/me"})


def unit_of(home: Path) -> str:
    return systemd_unit(ServiceDefinition(command=("/bin/python",), home=home, path="/bin", log=home / "log"))


def test_a_new_file_and_a_removed_one_are_shown_as_diffs() -> None:
    file = Path("/home/me/x.service")
    assert file_diff(file, "", "a\n") == "--- /dev/null\n+++ /home/me/x.service\n@@ -0,0 +1 @@\n+a\n"
    assert file_diff(file, "a\n", "") == "--- /home/me/x.service\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert file_diff(file, "a\n", "a\n") == ""


def test_only_the_file_of_this_home_is_changed() -> None:
    check_owner(MANAGER, "")
    check_owner(MANAGER, unit_of(home_path()))
    with pytest.raises(Refused, match="QUARTERDECK_HOME=/other qd service remove"):
        check_owner(MANAGER, unit_of(Path("/other")))
    with pytest.raises(Refused, match="was not written by Quarterdeck"):
        check_owner(MANAGER, "[Service]\n")


def test_a_missing_file_reads_as_empty(tmp_path: Path) -> None:
    file = tmp_path / "x.service"
    assert read_file(file) == ""
    file.write_text("a\n")
    assert read_file(file) == "a\n"
