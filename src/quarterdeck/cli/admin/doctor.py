"""What `qd doctor` looks at: each check says what it found and how to mend it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quarterdeck import __version__
from quarterdeck.agents.claude.hooks import SUPPORTED
from quarterdeck.config import Config, claude_config_dir, load_config, prepare_home
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.setup.home import Home, kept_port
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.drivers.claude.cli import ClaudeCli, find_claude
from quarterdeck.drivers.claude.install import install as connect
from quarterdeck.drivers.claude.session_files import SessionsFolder
from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import Client
from quarterdeck.surfaces.text.health import Check, findings

UNWELL = {
    "read_only": "its log is damaged and read-only",
    "nearly_full": "its disk is nearly full",
    "not_recording": "its log cannot be written",
}
"""What each state of the daemon but `ok` is in words."""


def checks(home: Path, file: Path | None = None) -> list[Check]:
    """Everything, in the order in which it has to be mended."""
    python = f"Quarterdeck {__version__} on Python {sys.version.split()[0]}"
    found = [Check("version", True, python)]
    try:
        config = load_config(home, file)
    except QuarterdeckError as error:
        return [*found, Check("settings", False, str(error), "see all of it with: qd config check")]
    found.append(Check("settings", True, f"decide.hold is {config.decide.hold}"))
    found.append(_home(home))
    found += [*_files(home), *_notify(config)]
    try:
        client = Client.of_home(home)
        stats = client.get("/api/v1/stats")
    except NoDaemon as error:
        found += [Check("daemon", False, str(error), "qd up"), *_port(home, config)]
        return [*found, _claude(config), *_connection(home, config)]
    except Refused as error:
        return [*found, Check("daemon", False, f"it does not serve us: {error}", "qd stop, then qd up")]
    hooks = _connection(home, config)
    connected = any(check.name == "hooks" and check.ok for check in hooks)
    found += [*_daemon(client, config), *findings(stats, __version__), *_socket(home), *_projects(client)]
    found += [_claude(config), *hooks]
    return found + (_unheard(client, claude_config_dir(config) / "sessions", stats) if connected else [])


def _home(home: Path) -> Check:
    try:
        prepare_home(home)
    except (QuarterdeckError, OSError) as error:
        return Check("home", False, str(error), "mend it, or set QUARTERDECK_HOME")
    return Check("home", True, str(home))


def _files(home: Path) -> list[Check]:
    """Whatever holds a secret or the record must be ours alone."""
    found = []
    for name in ("token", "hook-token", "events.db", "log/daemon.log", "run/daemon.json", "tls/key.pem"):
        path = home / name
        if path.is_symlink():
            found.append(Check("home", False, f"{path} is a link", "remove it, then qd stop and qd up"))
        elif path.exists() and path.stat().st_uid != os.getuid():
            fix = f"chown {os.getuid()} {path}, or set QUARTERDECK_HOME"
            found.append(Check("home", False, f"{path} belongs to another user", fix))
        elif path.exists() and path.stat().st_mode & 0o077:
            mode = path.stat().st_mode & 0o777
            found.append(Check("home", False, f"{path} can be reached by others (mode {mode:o})", f"chmod 600 {path}"))
    return found


def _notify(config: Config) -> list[Check]:
    """Whether whom to tell is well configured; `qd notify test` says whether it works."""
    try:
        channels = channels_of(config.notify, Redactor())
    except QuarterdeckError as error:
        return [Check("notify", False, str(error), "edit config.yaml, then qd stop and qd up")]
    return [
        Check("notify", trouble is None, f"{channel.name}: {trouble or channel.where}", "qd notify test")
        for channel in channels
        for trouble in [channel.trouble()]
    ]


def _daemon(client: Client, config: Config) -> list[Check]:
    status = client.call("GET", "/healthz")["status"]
    port = urlsplit(client.url).port
    if status != "ok":
        return [Check("daemon", False, f"it runs at {client.url}, but {UNWELL.get(status, status)}", "see below")]
    if config.runner.port not in (0, port):
        says = f"it listens at {client.url}, the settings say port {config.runner.port}"
        return [Check("daemon", False, says, "qd stop, then qd up, then qd install")]
    return [Check("daemon", True, f"runs at {client.url}")]


def _port(home: Path, config: Config) -> list[Check]:
    """Whether a daemon could listen where hooks expect it."""
    port = config.runner.port or kept_port(Home(home))
    with socket.socket(socket.AF_INET6 if ":" in config.runner.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.runner.host, port))
        except OSError as error:
            fix = "stop what listens there, or choose another port with QUARTERDECK_PORT and run qd install"
            return [Check("port", False, f"{config.runner.host}:{port} cannot be used ({error.strerror})", fix)]
    return []


def _unheard(client: Client, folder: Path, stats: dict[str, Any]) -> list[Check]:
    """Sessions that run and never spoke to us: most began before Claude Code was connected."""
    heard = {s["session_id"] for s in client.all("/api/v1/sessions") if s["state_source"] != "transcript"}
    files = SessionsFolder(folder)
    silent = [p for p in files.read() if p.session_id not in heard and files.identity(p) is not None]
    if silent:
        says = f"{len(silent)} running sessions were never heard, as {silent[0].session_id} (pid {silent[0].pid})"
        fix = "they began before qd install: end and resume them; /hooks in a session shows what is connected"
        return [Check("sessions", bool(heard), says, fix)]
    if not stats["hook_seconds"]["count"]:
        return [Check("sessions", True, "none was heard since the daemon started", "start claude, and say something")]
    return []


def _projects(client: Client) -> list[Check]:
    """How changes in projects are seen; nothing is said before anybody asked for projects."""
    scan = client.get("/api/v1/projects/scan")
    if scan["watch"] == "live":
        return [Check("projects", True, "changes in them are seen as they happen"), *_notes(scan)]
    return _notes(scan)


def _notes(scan: dict[str, Any]) -> list[Check]:
    return [Check("projects", True, note) for note in scan["notes"]]


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
    from quarterdeck.cli.admin.install import endpoint

    try:
        found = connect.state(home, claude_config_dir(config), endpoint(config))
    except (QuarterdeckError, OSError) as error:
        return [Check("hooks", False, str(error), "qd up, then qd install")]
    if not found.connections:
        return [
            Check("hooks", False, "Claude Code is not connected", "qd install (qd install --dry-run shows the change)")
        ]
    made = [Check("hooks", True, f"{c.transport} for the {c.scope}, in {c.file}") for c in found.connections if c.is_ok]
    wrong = [Check("hooks", False, problem, found.fix) for problem in found.problems]
    return [*made, *wrong, *(_gate(c) for c in found.connections)]


def _gate(connection: connect.Connection) -> Check:
    """Whether rules are enforced there: both ways are well, and a person must know which it is."""
    if connection.enforced:
        says = f"rules are enforced in {connection.file}: no tool runs while the daemon cannot be asked"
        return Check("enforce", True, says, "qd install without --enforce ends that")
    return Check("enforce", True, f"rules are not enforced in {connection.file}", "qd install --enforce")
