"""What `qd doctor` looks at: each check says what it found and how to mend it."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import Struct

from quarterdeck import __version__
from quarterdeck.agents.claude.hooks import SUPPORTED
from quarterdeck.config import Config, claude_config_dir, load_config, prepare_home
from quarterdeck.daemon import connect
from quarterdeck.daemon.claude_cli import ClaudeCli, find_claude
from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client import Client


class Check(Struct, frozen=True):
    """One finding. A fix may also be advice where nothing is wrong."""

    name: str
    ok: bool
    says: str
    fix: str = ""


def checks(home: Path) -> list[Check]:
    """Everything, in the order in which it has to be mended."""
    python = f"Quarterdeck {__version__} on Python {sys.version.split()[0]}"
    found = [Check("version", True, python)]
    try:
        config = load_config(home)
    except QuarterdeckError as error:
        return [*found, Check("settings", False, str(error), "edit the file, then run qd doctor again")]
    found.append(Check("settings", True, f"decide.hold is {config.decide.hold}"))
    try:
        prepare_home(home)
    except QuarterdeckError as error:
        return [*found, Check("home", False, str(error), "mend it, or set QUARTERDECK_HOME")]
    found.append(Check("home", True, str(home)))
    return [*found, *_daemon(home), *_socket(home), _claude(config), *_connection(home, config)]


def _daemon(home: Path) -> list[Check]:
    try:
        client = Client.of_home(home)
        status = client.call("GET", "/healthz")["status"]
        client.get("/api/v1/sessions", limit=1)
    except NoDaemon as error:
        return [Check("daemon", False, str(error), "qd up")]
    except Refused as error:
        return [Check("daemon", False, f"it refuses our token: {error}", "qd stop, then qd up")]
    if status != "ok":
        fix = "restore events.db from a backup, or move it away to begin a new log; see log/daemon.log for the row"
        return [Check("daemon", False, f"it runs at {client.url}, but its log is {status}", fix)]
    return [Check("daemon", True, f"runs at {client.url}")]


def _socket(home: Path) -> list[Check]:
    path = home / "run" / "hook.sock"
    if not path.exists():
        return []
    mode = path.lstat().st_mode & 0o777
    return [Check("socket", mode == 0o600, f"{path} has mode {mode:o}", "" if mode == 0o600 else "qd stop, then qd up")]


def _claude(config: Config) -> Check:
    try:
        path = find_claude(config.claude.path)
        version = ClaudeCli(path, claude_config_dir(config)).version() if path else ""
    except QuarterdeckError as error:
        return Check("claude", False, str(error), "set claude.path in config.yaml")
    if path is None:
        return Check("claude", False, "no claude program was found", "install Claude Code, or set claude.path")
    if _numbers(version) < _numbers(SUPPORTED[0]):
        return Check(
            "claude", False, f"{path} is {version or 'of unknown version'}", f"update it to {SUPPORTED[0]} or newer"
        )
    return Check("claude", True, f"{path} is {version}; tested with {' and '.join(SUPPORTED)}")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _connection(home: Path, config: Config) -> list[Check]:
    from quarterdeck.cli.connecting import endpoint

    try:
        found = connect.state(home, claude_config_dir(config), endpoint(config))
    except QuarterdeckError as error:
        return [Check("hooks", False, str(error), "qd up, then qd install")]
    if not found.connections:
        return [
            Check("hooks", False, "Claude Code is not connected", "qd install (qd install --dry-run shows the change)")
        ]
    made = [Check("hooks", True, f"{c.transport} for the {c.scope}, in {c.file}") for c in found.connections if c.is_ok]
    return made + [Check("hooks", False, problem, "qd install") for problem in found.problems]
