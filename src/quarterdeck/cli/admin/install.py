"""Connect Claude Code: install, uninstall, doctor."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from msgspec.structs import asdict
from rich.text import Text

from quarterdeck.agents.base import Endpoint, Transport
from quarterdeck.cli.admin.doctor import checks
from quarterdeck.cli.common import ConfigFile, Output, cell, command, group, option, out, settings
from quarterdeck.config.home import home_path, prepare_home
from quarterdeck.config.settings import Config
from quarterdeck.daemon.setup.home_files import Home, kept_port
from quarterdeck.drivers.base import GateStatus, InstallOptions, InstallReport, InstallScope, UninstallOptions
from quarterdeck.drivers.registry import Drivers
from quarterdeck.errors import QuarterdeckError
from quarterdeck.views.health import MARKS, HealthCheck

app = group("Connect agents.")
STYLES = {"good": "", "advice": "cyan", "problem": "red"}
ScopeOption = Annotated[InstallScope, option("user: all your projects; project: the one in --project.")]
ProjectOption = Annotated[Path | None, option("Folder of the project, for --scope project.", file_okay=False)]
DryRun = Annotated[bool, option("Show the change as a diff without making it.", "--dry-run")]
Full = Annotated[bool, option("Also show the diff of Quarterdeck's own files on a terminal.", "--full")]


@command(app)
def install(
    scope: ScopeOption = InstallScope.USER,
    project: ProjectOption = None,
    transport: Annotated[
        Transport, option("Connect with a plugin, or with hooks in a settings file.")
    ] = Transport.PLUGIN,
    enforce: Annotated[
        bool,
        option(
            "Block every tool call while Quarterdeck cannot be reached (default: Claude Code asks at its own prompt).",
            "--enforce",
        ),
    ] = False,
    dry_run: DryRun = False,
    full: Full = False,
    config: ConfigFile = None,
) -> Output:
    """Connect Claude Code to Quarterdeck. Its sessions then show up here. Run it again to update the connection."""
    chosen = settings(config)
    if not dry_run:
        Home(home_path()).keep_forwarder()
    options = InstallOptions(
        endpoint=endpoint(chosen),
        transport=transport,
        scope=scope,
        project=project,
        enforce=enforce,
        dry_run=dry_run,
    )
    return _output(Drivers(chosen).of().install(home_path(), options), full)


@command(app)
def uninstall(
    scope: Annotated[InstallScope | None, option("Disconnect only this scope (default: all).")] = None,
    project: ProjectOption = None,
    dry_run: DryRun = False,
    full: Full = False,
    config: ConfigFile = None,
) -> Output:
    """Disconnect Claude Code and restore its settings."""
    driver = Drivers(settings(config)).of()
    options = UninstallOptions(scope=scope, project=project, dry_run=dry_run)
    return _output(driver.uninstall(home_path(), options), full)


def is_connected(config: Path | None) -> bool:
    """True if the agent reports to this home as an install would let it; False also when that cannot be read."""
    try:
        chosen = settings(config)
        found = Drivers(chosen).of().install_status(home_path(), endpoint(chosen))
    except (QuarterdeckError, OSError):
        return False
    return any(not connection.problems for connection in found.connections)


def gates(config: Path | None = None) -> tuple[GateStatus, ...]:
    """The enforce gates; empty also when that cannot be read."""
    try:
        chosen = settings(config)
        return Drivers(chosen).of().install_status(home_path(), endpoint(chosen)).gates
    except (QuarterdeckError, OSError):
        return ()


def _output(report: InstallReport, full: bool) -> Output:
    for warning in report.warnings:
        sys.stderr.write(f"quarterdeck: {warning}\n")
    value = {"changed": report.changed, "diff": report.diff, "lines": list(report.lines)}
    return Output(value, _report_lines(report, full))


def _report_lines(report: InstallReport, full: bool) -> Iterator[str]:
    """The report. On a terminal the diff of Quarterdeck's own files is left out, except with `full`."""
    brief = out.is_terminal and not full
    sys.stdout.write(report.settings_diff if brief else report.diff)
    if brief and report.plugin_file_count:
        count = "1 file" if report.plugin_file_count == 1 else f"{report.plugin_file_count} files"
        yield f"Plus {count} of Quarterdeck's own in {home_path()} (show them with --full)."
    yield from report.lines


def endpoint(config: Config) -> Endpoint:
    """The endpoint that hooks call: the running daemon, or where the next one will listen."""
    prepare_home(home_path())
    home = Home(home_path())
    return home.endpoint(_url(home, config), config.decide)


def _url(home: Home, config: Config) -> str:
    note = home.read_note()
    if note is not None:
        return str(note["url"])
    port = config.runner.port or kept_port(home)
    if not port:
        raise QuarterdeckError("no port is set yet; start Quarterdeck once with: qd up")
    return f"http://{config.runner.host}:{port}"


@command(app)
def doctor(config: ConfigFile = None) -> Output:
    """Check the installation and show how to fix each problem. ✗ marks a problem, i a suggestion, ✓ a passed check."""
    found = checks(home_path(), config)
    return Output(
        {"checks": [{**asdict(check), "level": check.level} for check in found], "next": None},
        _check_lines(found),
        all(check.ok for check in found),
    )


def _check_lines(found: list[HealthCheck]) -> Iterator[Text]:
    for check in found:
        yield cell(f"{MARKS[check.level]} {check.name}: {check.says}", STYLES[check.level])
        if check.fix:
            yield cell(f"    → {check.fix}", "dim" if check.ok else "bold")
