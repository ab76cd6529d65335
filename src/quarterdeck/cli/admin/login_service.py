"""`qd service`: start Quarterdeck at login, by systemd or launchd."""

from __future__ import annotations

import contextlib
import difflib
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.text import Text

from quarterdeck.agents.registry import AGENTS
from quarterdeck.cli.admin.daemon import START_SECONDS, STOP_SECONDS, daemon_command, last_line, running_client
from quarterdeck.cli.common import ConfigFile, Json, Output, cell, command, group, option, out, settings
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.daemon.setup.home_files import Home
from quarterdeck.errors import QuarterdeckError, Refused
from quarterdeck.system.private_files import replace_file, write_private
from quarterdeck.system.process_table import alive
from quarterdeck.system.service.missing_variables import environment_of, missing_names
from quarterdeck.system.service.own_manager import service_manager
from quarterdeck.system.service.service_files import ServiceDefinition, absolute_folders, is_own_file
from quarterdeck.system.service.service_manager import Command, ServiceManager, ServiceState, carry_out
from quarterdeck.views.health import HealthCheck

app = typer.Typer()
service = group("Start Quarterdeck when you log in.")
app.add_typer(service, name="service")
OFFERED = "service-offered"
READ_SECONDS = 0.05

DryRun = Annotated[bool, option("Show the change without making it.", "--dry-run")]


class InstalledService(NamedTuple):
    """The service of this home: its manager, and the content of the file that it reads."""

    manager: ServiceManager
    text: str


@command(service)
def install(dry_run: DryRun = False, config: ConfigFile = None) -> Output:
    """Start Quarterdeck when you log in, and again after a crash. Run it again to update the service. Agents and
    terminals go on."""
    settings(config)
    manager = service_manager()
    _require(manager)
    old = read_file(manager.file)
    check_owner(manager, old)
    new = manager.text(_definition(config))
    state = manager.state()
    commands = manager.install_commands(state, is_changed=new != old)
    is_done = new == old and not commands
    diff = file_diff(manager.file, old, new)
    if not dry_run and not is_done:
        prepare_home(home_path())
        write_private(_service_log(), "")
        manager.file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(manager.file, new, mode=0o644)
        _hand_over(state)
        carry_out(commands, manager.environ)
        _wait_until_ready(manager)
    value = {"changed": not is_done, "diff": diff, "commands": [" ".join(one) for one in commands]}
    return Output(value, _install_lines(manager, diff, commands, is_done=is_done, dry_run=dry_run))


def _install_lines(
    manager: ServiceManager, diff: str, commands: Sequence[Command], *, is_done: bool, dry_run: bool
) -> Iterator[str | Text]:
    sys.stdout.write(diff)
    if is_done:
        yield f"Nothing to change: Quarterdeck starts when you log in ({manager.file})."
        return
    if dry_run:
        yield from _command_lines(commands)
        return
    yield f"Installed: {manager.file}"
    yield f"Quarterdeck starts when you log in; {manager.login_hint}"
    yield cell(f"logs: {home_path() / 'log' / 'daemon.log'}; problems at its start: {_service_log()}", "dim")
    yield cell("to remove it: qd service remove", "dim")
    if (found := environment_check(home_path())) is not None:
        yield cell(f"{found.says}; {found.fix}", "yellow")


@command(service)
def remove(dry_run: DryRun = False) -> Output:
    """Stop starting Quarterdeck at login. The service's daemon stops; agents in terminals keep running."""
    manager = service_manager()
    old = read_file(manager.file)
    if not old:
        return Output({"changed": False, "diff": "", "commands": []}, ["Nothing to remove: no service is installed."])
    _require(manager)
    check_owner(manager, old)
    commands = [*manager.remove_commands(), *manager.removed_commands()]
    diff = file_diff(manager.file, old, "")
    if not dry_run:
        carry_out(manager.remove_commands(), manager.environ)
        manager.file.unlink()
        carry_out(manager.removed_commands(), manager.environ)
    value = {"changed": True, "diff": diff, "commands": [" ".join(one) for one in commands]}
    done = [f"Removed: {manager.file}. Quarterdeck is stopped; to start it: qd up"]
    return Output(value, _remove_lines(diff, list(_command_lines(commands)) if dry_run else done))


def _remove_lines(diff: str, lines: Sequence[str]) -> Iterator[str]:
    sys.stdout.write(diff)
    yield from lines


@command(service)
def status() -> Output:
    """Show whether Quarterdeck starts at login, and whether it runs."""
    manager = service_manager()
    text = read_file(manager.file)
    state = manager.state() if text else ServiceState()
    view: Json = {
        "manager": manager.name,
        "problem": manager.problem(),
        "file": str(manager.file),
        "installed": bool(text),
        "home": manager.home_of(text) or None,
        "at_login": state.at_login,
        "pid": state.pid,
        "state": state.word,
    }
    return Output(view, _status_lines(view))


def _status_lines(view: Json) -> Iterator[str | Text]:
    if view["problem"]:
        yield cell(f"No service can be installed here: {view['problem']}", "yellow")
        yield INSTEAD
        return
    if not view["installed"]:
        yield "Not installed; to start Quarterdeck when you log in: qd service install"
        return
    running = f"running as pid {view['pid']}" if view["pid"] else f"not running ({view['state'] or 'unknown'})"
    at_login = "starts when you log in" if view["at_login"] else "does not start at login (run qd service install)"
    yield f"{view['manager']}: {running}; {at_login}"
    yield f"file: {view['file']}"
    yield f"home: {view['home']}"


INSTEAD = "Instead: start it by hand with qd up, or let cron do it: crontab -e, then @reboot PATH/TO/qd daemon --quiet"


def _require(manager: ServiceManager) -> None:
    """Raise `Refused` where the service manager cannot be used, with what to do instead."""
    if problem := manager.problem():
        user = "; after su or sudo, log in as that user instead" if manager.name == "systemd" else ""
        raise Refused(f"{manager.name} is not responding for this user ({problem}){user}. {INSTEAD}")


def check_owner(manager: ServiceManager, text: str) -> None:
    if text and not is_own_file(text):
        raise Refused(f"{manager.file}: was not written by Quarterdeck; move it away first")
    home = manager.home_of(text)
    if text and home != str(home_path()):
        raise Refused(f"the service runs Quarterdeck in {home}; first: QUARTERDECK_HOME={home} qd service remove")


def _definition(config: Path | None) -> ServiceDefinition:
    home = home_path()
    path = absolute_folders(os.environ.get("PATH", os.defpath))
    return ServiceDefinition(command=tuple(daemon_command(config)), home=home, path=path, log=_service_log())


def _service_log() -> Path:
    return home_path() / "log" / "service.log"


def file_diff(file: Path, old: str, new: str) -> str:
    names = (str(file) if old else "/dev/null", str(file) if new else "/dev/null")
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), *names))


def _command_lines(commands: Sequence[Command]) -> Iterator[str]:
    for one in commands:
        yield f"would run: {' '.join(one)}"


def read_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _hand_over(state: ServiceState) -> None:
    """Stop a daemon of this home that the service manager did not start. By SIGTERM: agents go on, and what they wait
    for, they ask the next daemon."""
    note = Home(home_path()).read_note()
    if note is None or note["pid"] == state.pid or running_client() is None:
        return
    pid = int(note["pid"])
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while alive(pid):
        if time.monotonic() > deadline:
            raise QuarterdeckError(f"pid {pid} does not end; stop it, then run qd service install again")
        time.sleep(READ_SECONDS)


def _wait_until_ready(manager: ServiceManager) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _is_ready(state := manager.state()):
        if state.is_failing or time.monotonic() > deadline:
            raise QuarterdeckError(f"the service did not start: {last_line(_service_log())} (see {_service_log()})")
        time.sleep(READ_SECONDS)


def _is_ready(state: ServiceState) -> bool:
    note = Home(home_path()).read_note()
    return note is not None and note["pid"] == state.pid and running_client() is not None


def installed() -> InstalledService | None:
    """The service of this home; None when none is installed."""
    manager = service_manager()
    text = read_file(manager.file)
    is_of_home = is_own_file(text) and manager.home_of(text) == str(home_path())
    return InstalledService(manager, text) if is_of_home else None


def start() -> bool:
    """Start the daemon by the service manager; False when it has no service for this home, or does not answer."""
    found = installed()
    if found is None or found.manager.problem():
        return False
    carry_out(found.manager.start_commands(), found.manager.environ)
    _wait_until_ready(found.manager)
    return True


def offer() -> None:
    """Offer the service once, on a terminal: what the person answers is remembered in the home. A home that was chosen
    by a variable may be one of several, so nothing is offered for it."""
    remembered = home_path() / OFFERED
    if remembered.exists() or "QUARTERDECK_HOME" in os.environ or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    manager = service_manager()
    if manager.problem() or read_file(manager.file):
        return
    remembered.touch(mode=0o600)
    out.print("Quarterdeck keeps running in the background until you log out.")
    if typer.confirm("Start it whenever you log in? (qd service install does that later)"):
        for line in install().lines:
            out.print(line)


def service_checks(home: Path, config: Path | None) -> list[HealthCheck]:
    """What `qd doctor` says of the service; nothing when none is installed."""
    found = installed()
    if found is None:
        return []
    manager, text = found
    if problem := manager.problem():
        return [HealthCheck("service", False, f"{manager.name} is not responding ({problem})", "log in again")]
    state = manager.state()
    checks = [_state_check(state)]
    if text != manager.text(_definition(config)):
        says = f"{manager.file} is of another version, or another PATH"
        checks.append(HealthCheck("service", True, says, "to update it: qd service install"))
    environment = environment_check(home)
    return checks + ([environment] if environment else [])


def _state_check(state: ServiceState) -> HealthCheck:
    if state.pid is None:
        return HealthCheck("service", False, f"it does not run ({state.word or 'unknown'})", "qd service install")
    if not state.at_login:
        return HealthCheck("service", False, "it runs, but does not start at login", "qd service install")
    return HealthCheck("service", True, f"starts at login; running as pid {state.pid}")


def environment_check(home: Path) -> HealthCheck | None:
    """The variables that this shell has and the service's process lacks, by name."""
    found = installed()
    note = Home(home).read_note()
    state = found.manager.state() if found else ServiceState()
    if found is None or note is None or note["pid"] != state.pid:
        return None
    environment = environment_of(int(note["pid"]))
    counts = [name for agent in AGENTS.values() for name in agent.variables]
    own = [name for agent in AGENTS.values() for name in agent.session_variables]
    names = missing_names(os.environ, environment, counts, own) if environment is not None else []
    if not names:
        return None
    says = f"your shell has variables that the service lacks: {', '.join(names)}"
    fixes = ["PATH: qd service install"] if "PATH" in names else []
    if names != ["PATH"]:
        fixes.append(f"if agents need them, {found.manager.variables_hint}, then: qd service install")
    return HealthCheck("environment", True, says, "; ".join(fixes))
