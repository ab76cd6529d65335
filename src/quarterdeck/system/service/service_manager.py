"""The interface of a service manager, and what it says of the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from quarterdeck.errors import Refused
from quarterdeck.system.run_program import ProgramResult, run
from quarterdeck.system.service.service_files import ServiceDefinition

CALL_SECONDS = 60.0
"""A stop waits for the end of the daemon."""

Command = tuple[str, ...]


class ServiceState(Struct, frozen=True, kw_only=True):
    """What the service manager says of the service: whether it starts it at login, its process, and a short word of its
    own about it, like `active` or `failed`. `is_failing`: it has ended, and is started again or given up."""

    at_login: bool = False
    pid: int | None = None
    word: str = ""
    is_failing: bool = False


class ServiceManager(Protocol):
    """One service manager: the file that it reads, and the commands to it."""

    name: str
    file: Path
    environ: Mapping[str, str]
    login_hint: str
    variables_hint: str

    def problem(self) -> str:
        """The reason why it cannot be used here, in its own words; empty when it can."""

    def text(self, service: ServiceDefinition) -> str:
        """The content of the file."""

    def home_of(self, text: str) -> str:
        """The home that a file names."""

    def state(self) -> ServiceState: ...

    def install_commands(self, state: ServiceState, *, is_changed: bool) -> Sequence[Command]:
        """The commands that make a file that was just written take effect; none when it has."""

    def start_commands(self) -> Sequence[Command]: ...

    def remove_commands(self) -> Sequence[Command]:
        """The commands to run before the file is deleted."""

    def removed_commands(self) -> Sequence[Command]:
        """The commands to run after the file was deleted."""


def call(command: Command, environ: Mapping[str, str]) -> ProgramResult:
    """Run a command of a service manager in this environment. Raises `Refused` when it could not be started."""
    try:
        return run(command, cwd="/", env=environ, seconds=CALL_SECONDS)
    except OSError as error:
        raise Refused(f"{command[0]} could not be started ({error.strerror})") from None


def carry_out(commands: Sequence[Command], environ: Mapping[str, str]) -> None:
    """Run the commands in order. Raises `Refused` with the words of the first one that fails."""
    for command in commands:
        result = call(command, environ)
        if result.code or result.cut:
            raise Refused(f"{' '.join(command)}: {last_words(result)}")


def last_words(result: ProgramResult) -> str:
    lines = (result.err or result.out).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ("took too long" if result.cut else f"ended with {result.code}")
