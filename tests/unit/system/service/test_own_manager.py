"""The service manager of this machine."""

from __future__ import annotations

import sys

from quarterdeck.system.service.own_manager import service_manager


def test_each_system_has_its_own() -> None:
    assert service_manager().name == ("launchd" if sys.platform == "darwin" else "systemd")
