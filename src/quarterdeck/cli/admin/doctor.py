"""The checks of `qd doctor`: each says what it found and how to fix it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quarterdeck import __version__
from quarterdeck.agents.registry import AGENTS
from quarterdeck.config.home import prepare_home
from quarterdeck.config.loader import load_config
from quarterdeck.config.settings import Config
from quarterdeck.daemon.notify.channels import channels_of
from quarterdeck.daemon.setup.home_files import Home, kept_port
from quarterdeck.daemon.telemetry.log_redaction import Redactor
from quarterdeck.drivers.base import Driver, InstallStatus
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import NoDaemon, QuarterdeckError, Refused
from quarterdeck.surfaces.client.http import START_HINT, Client
from quarterdeck.views.health import HealthCheck, version_findings

REPORT_SECONDS = 60.0
"""How long after a start no session may have reported yet, even if all are connected."""
OPEN_GATE = "to remove it: qd install"


def checks(home: Path, file: Path | None = None) -> list[HealthCheck]:
    """Run every check, in the order in which problems must be fixed."""
    python = f"Quarterdeck {__version__} on Python {sys.version.split()[0]}"
    found = [HealthCheck("version", True, python)]
    try:
        config = load_config(home, file)
    except QuarterdeckError as error:
        return [*found, HealthCheck("settings", False, str(error), "qd config check (lists every problem)")]
    drivers = Drivers(config)
    driver = drivers.of()
    found.append(HealthCheck("settings", True, f"decide.hold is {config.decide.hold}"))
    found.append(_home(home))
    found += [*_files(home), *_channels(config), *_service(home, file)]
    try:
        client = Client.of_home(home)
        stats = client.get("/api/v1/stats")
    except NoDaemon as error:
        found += [HealthCheck("daemon", False, str(error).removesuffix(START_HINT), "qd up"), *_port(home, config)]
        return [*found, _program(driver), *_connection(home, config, driver)]
    except Refused as error:
        return [*found, HealthCheck("daemon", False, f"it refuses this command: {error}", "qd stop, then qd up")]
    version, daemon, own = version_findings(stats["version"], __version__), *_of_daemon(client, config)
    hooks = _connection(home, config, driver, "" if daemon.ok else "fix the daemon first")
    connected = any(check.name == "hooks" and check.ok for check in hooks)
    found += [daemon, *version, *own, *_socket(home)]
    found += [_program(driver), *hooks]
    return found + (_silent_sessions(client, drivers, stats) if connected else [])


def _service(home: Path, file: Path | None) -> list[HealthCheck]:
    from quarterdeck.cli.admin.login_service import service_checks

    return service_checks(home, file)


def _home(home: Path) -> HealthCheck:
    try:
        prepare_home(home)
    except (QuarterdeckError, OSError) as error:
        return HealthCheck("home", False, str(error), "fix it, or set QUARTERDECK_HOME to another folder")
    return HealthCheck("home", True, str(home))


def _files(home: Path) -> Iterator[HealthCheck]:
    """Files with secrets or the record must be accessible to their owner only."""
    for name in ("token", "hook-token", "events.db", "log/daemon.log", "run/daemon.json", "tls/key.pem"):
        path = home / name
        if path.is_symlink():
            yield HealthCheck("home", False, f"{path} is a symbolic link", "remove it, then qd stop and qd up")
        elif path.exists() and path.stat().st_uid != os.getuid():
            fix = f"chown {os.getuid()} {path}, or set QUARTERDECK_HOME"
            yield HealthCheck("home", False, f"{path} belongs to another user", fix)
        elif path.exists() and path.stat().st_mode & 0o077:
            says = f"{path} is accessible to other users (mode {path.stat().st_mode & 0o777:o})"
            yield HealthCheck("home", False, says, f"chmod 600 {path}")


def _channels(config: Config) -> list[HealthCheck]:
    """Check the configuration of the notification channels; only `qd notify test` sends something."""
    try:
        channels = channels_of(config.notify, Redactor())
    except QuarterdeckError as error:
        return [HealthCheck("notify", False, str(error), "edit config.yaml, then qd stop and qd up")]
    return [
        HealthCheck("notify", trouble is None, f"{channel.name}: {trouble or channel.where}", "qd notify test")
        for channel in channels
        for trouble in [channel.problem()]
    ]


def _of_daemon(client: Client, config: Config) -> tuple[HealthCheck, list[HealthCheck]]:
    """What the daemon says about itself: that it runs, and all else. Only a file tells which port it will have next."""
    listed = client.get("/api/v1/health")["health"]
    running, *others = (HealthCheck(one["name"], one["ok"], one["says"], one["fix"]) for one in listed)
    port = urlsplit(client.url).port
    if running.ok and config.runner.port not in (0, port):
        says = f"it listens at {client.url}, but runner.port is {config.runner.port}"
        fix = f"to keep port {port}, set runner.port: {port} in config.yaml; otherwise qd stop, qd up; then qd install"
        running = HealthCheck("daemon", False, says, fix)
    return running, others


def _port(home: Path, config: Config) -> list[HealthCheck]:
    """Check that a daemon could listen where hooks expect it."""
    port = config.runner.port or kept_port(Home(home))
    with socket.socket(socket.AF_INET6 if ":" in config.runner.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.runner.host, port))
        except OSError as error:
            fix = "stop the program that uses it, or set another runner.port in config.yaml; then qd up, qd install"
            return [HealthCheck("port", False, f"{config.runner.host}:{port} cannot be used ({error.strerror})", fix)]
    return []


def _silent_sessions(client: Client, drivers: Drivers, stats: dict[str, Any]) -> list[HealthCheck]:
    """Check for running sessions that never sent a hook call; most started before their agent was connected."""
    known = {s.session_id for s in client.sessions() if s.state_source != "transcript"}
    silent = [(process, session_id) for process, session_id in drivers.running() if session_id not in known]
    if silent:
        process, session_id = silent[0]
        example = f"{session_id} (pid {process.pid})"
        says = f"{len(silent)} running sessions never reported to Quarterdeck, for example {example}"
        fix = "they started before qd install: end and resume them; /hooks in a session lists its hooks"
        is_early = stats["uptime_seconds"] < REPORT_SECONDS
        return [HealthCheck("sessions", bool(known) or is_early, says, fix)]
    if not stats["hook_seconds"]["count"]:
        says = "no hook call since the daemon started"
        return [HealthCheck("sessions", True, says, "start claude and send it a prompt")]
    return []


def _socket(home: Path) -> Iterator[HealthCheck]:
    path = home / "run" / "hook.sock"
    if path.exists():
        mode = path.lstat().st_mode & 0o777
        is_private = mode == 0o600
        yield HealthCheck(
            "socket", is_private, f"{path} has mode {mode:o}", "" if is_private else "qd stop, then qd up"
        )


def _program(driver: Driver) -> HealthCheck:
    agent = AGENTS[driver.name]
    try:
        path = driver.find_program()
        version = driver.version(path) if path else ""
    except QuarterdeckError as error:
        return HealthCheck(agent.name, False, str(error), f"set {driver.name}.path in config.yaml")
    if path is None:
        fix = f"install it, or set {driver.name}.path in config.yaml"
        return HealthCheck(agent.name, False, f"{agent.label} was not found", fix)
    oldest, newest = agent.supported
    if _numbers(version) < _numbers(oldest):
        fix = f"update it to {oldest} or newer"
        return HealthCheck(agent.name, False, f"{path} is {version or 'of unknown version'}", fix)
    says = f"{path} is {version}; tested with {oldest} and {newest}"
    newer = "newer than the tested versions; report what does not work" * (_numbers(version) > _numbers(newest))
    return HealthCheck(agent.name, True, says, driver.program_advice(path) or newer)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _connection(home: Path, config: Config, driver: Driver, other_fix: str = "") -> list[HealthCheck]:
    """Check the agent's connection. `other_fix` replaces the advice for a broken one: while the daemon listens at a
    port that it will not keep, qd install would write that port."""
    from quarterdeck.cli.admin.install import endpoint

    try:
        found = driver.install_status(home, endpoint(config))
    except (QuarterdeckError, OSError) as error:
        return [HealthCheck("hooks", False, str(error), "qd up, then qd install")]
    if not found.connections and not found.gates:
        says = f"{AGENTS[driver.name].label} is not connected"
        return [HealthCheck("hooks", False, says, "qd install (qd install --dry-run shows the change)")]
    working = [f"{c.transport} for the {c.scope}, in {c.file}" for c in found.connections if not c.problems]
    of_gates = {problem for gate in found.gates for problem in gate.problems}
    broken = [problem for problem in found.problems if problem not in of_gates]
    return [
        *(HealthCheck("hooks", True, says) for says in working),
        *(HealthCheck("hooks", False, problem, other_fix or found.fix) for problem in broken),
        *_gates(found),
    ]


def _gates(found: InstallStatus) -> list[HealthCheck]:
    """Show what happens while the daemon cannot be reached: without a gate that is no problem, but you must know it."""
    if not found.gates:
        says = "while the daemon cannot be reached, Claude Code asks at its own prompt"
        return [HealthCheck("enforce", True, says, "to let no tool run then: qd install --enforce")]
    broken = [HealthCheck("enforce", False, problem, found.fix) for gate in found.gates for problem in gate.problems]
    whole = "the gate in {} is intact: while the daemon cannot be reached, no tool runs"
    return broken or [HealthCheck("enforce", True, whole.format(gate.file), OPEN_GATE) for gate in found.gates]
