"""The systemd user manager, on Linux."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from quarterdeck.errors import Refused
from quarterdeck.system.service.service_files import UNIT, ServiceDefinition, home_in_unit, systemd_unit
from quarterdeck.system.service.service_manager import Command, ServiceState, call, last_words

SYSTEMCTL = ("systemctl", "--user", "--no-pager")
SHOWN = ("UnitFileState", "ActiveState", "MainPID")


class Systemd:
    """The user manager of this user."""

    name = "systemd"
    login_hint = "it ends when you log out; to keep it: loginctl enable-linger"
    variables_hint = "put them into a file in ~/.config/environment.d, log in again"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        folder = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".config"
        self.file = Path(folder) / "systemd" / "user" / UNIT

    def problem(self) -> str:
        try:
            result = call((*SYSTEMCTL, "show-environment"), self.environ)
        except Refused as error:
            return str(error)
        return last_words(result) if result.code or result.cut else ""

    def text(self, service: ServiceDefinition) -> str:
        return systemd_unit(service)

    def home_of(self, text: str) -> str:
        return home_in_unit(text)

    def state(self) -> ServiceState:
        try:
            result = call((*SYSTEMCTL, "show", UNIT, f"--property={','.join(SHOWN)}"), self.environ)
        except Refused:
            return ServiceState()
        return read_state(result.out.decode(errors="replace"))

    def install_commands(self, state: ServiceState, *, is_changed: bool) -> Sequence[Command]:
        commands: list[Command] = [] if state.at_login and not is_changed else [(*SYSTEMCTL, "daemon-reload")]
        commands += [] if state.at_login else [(*SYSTEMCTL, "enable", UNIT)]
        if state.pid is None:
            return [*commands, *self.start_commands()]
        return [*commands, (*SYSTEMCTL, "restart", UNIT)] if is_changed else commands

    def start_commands(self) -> Sequence[Command]:
        """A service that failed too often is not started before that is forgotten."""
        return [(*SYSTEMCTL, "reset-failed", UNIT), (*SYSTEMCTL, "start", UNIT)]

    def remove_commands(self) -> Sequence[Command]:
        return [(*SYSTEMCTL, "disable", "--now", UNIT)]

    def removed_commands(self) -> Sequence[Command]:
        return [(*SYSTEMCTL, "daemon-reload")]


def read_state(shown: str) -> ServiceState:
    """The state in what `systemctl show` prints."""
    fields = dict(line.partition("=")[::2] for line in shown.splitlines())
    pid, word = fields.get("MainPID", "0"), fields.get("ActiveState", "")
    return ServiceState(
        at_login=fields.get("UnitFileState") == "enabled",
        pid=int(pid) if pid.isdigit() and pid != "0" else None,
        word=word,
        is_failing=pid == "0" and word in ("activating", "failed"),
    )


def with_runtime_folder(environ: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """The environment with the folder of the user manager's socket: after `su` or over ssh without PAM the variable is
    missing although the manager runs."""
    if "XDG_RUNTIME_DIR" in environ or not (folder / "systemd" / "private").exists():
        return environ
    return {**environ, "XDG_RUNTIME_DIR": str(folder)}


def runtime_folder() -> Path:
    """Where systemd puts the runtime folder of this user."""
    return Path("/run/user") / str(os.getuid())
