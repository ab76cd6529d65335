"""launchd, on macOS."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from quarterdeck.errors import Refused
from quarterdeck.system.service.service_files import LABEL, ServiceDefinition, home_in_agent, launchd_agent
from quarterdeck.system.service.service_manager import Command, ServiceState, call

_PID = re.compile(r"^\s*pid = (\d+)$", re.MULTILINE)
_STATE = re.compile(r"^\s*state = (.+)$", re.MULTILINE)


class Launchd:
    """The agents of this user's login."""

    name = "launchd"
    login_hint = "it ends when you log out"
    variables_hint = "launchctl setenv NAME VALUE for each, at every login"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.file = Path(environ.get("HOME", "~")).expanduser() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def problem(self) -> str:
        try:
            result = call(("launchctl", "print", self._domain), self.environ)
        except Refused as error:
            return str(error)
        return "nobody is logged in at its screen" if result.code else ""

    def text(self, service: ServiceDefinition) -> str:
        return launchd_agent(service)

    def home_of(self, text: str) -> str:
        return home_in_agent(text)

    def state(self) -> ServiceState:
        try:
            result = call(("launchctl", "print", self._target), self.environ)
        except Refused:
            return ServiceState()
        return ServiceState() if result.code else read_state(result.out.decode(errors="replace"))

    def install_commands(self, state: ServiceState, *, is_changed: bool) -> Sequence[Command]:
        load = [("launchctl", "enable", self._target), ("launchctl", "bootstrap", self._domain, str(self.file))]
        if not state.at_login:
            return load
        if is_changed:
            return [("launchctl", "bootout", self._target), *load]
        return [] if state.pid is not None else self.start_commands()

    def start_commands(self) -> Sequence[Command]:
        return [("launchctl", "kickstart", self._target)]

    def remove_commands(self) -> Sequence[Command]:
        return [("launchctl", "bootout", self._target)]

    def removed_commands(self) -> Sequence[Command]:
        return []


def read_state(printed: str) -> ServiceState:
    """The state in what `launchctl print` says of a loaded agent."""
    pid, word = _PID.search(printed), _STATE.search(printed)
    return ServiceState(at_login=True, pid=int(pid[1]) if pid else None, word=word[1] if word else "loaded")
