"""The service manager of this machine."""

from __future__ import annotations

import os
import sys

from quarterdeck.system.service.launchd import Launchd
from quarterdeck.system.service.service_manager import ServiceManager
from quarterdeck.system.service.systemd import Systemd, runtime_folder, with_runtime_folder


def service_manager() -> ServiceManager:
    """The service manager of this user. Whether it can be used is its `problem`."""
    if sys.platform == "darwin":
        return Launchd(os.environ)
    return Systemd(with_runtime_folder(os.environ, runtime_folder()))
