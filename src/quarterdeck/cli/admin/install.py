"""Connecting Claude Code: install, uninstall, doctor."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from quarterdeck import hook
from quarterdeck.cli.admin.doctor import checks
from quarterdeck.cli.common import AsJson, ConfigFile, cell, out, plainly, print_json, settings
from quarterdeck.config import Config, claude_config_dir, home_path, prepare_home
from quarterdeck.daemon.setup.home import Home, kept_port
from quarterdeck.drivers.claude.install import install as connect
from quarterdeck.drivers.claude.install.install import Endpoint, Scope, Transport
from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.text.health import Check

ScopeOption = Annotated[Scope, typer.Option(help="For every project of yours, or for one.")]
ProjectOption = Annotated[
    Path | None, typer.Option(help="The project's folder, with --scope project.", file_okay=False)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the change as a diff and make none.")]
Full = Annotated[bool, typer.Option("--full", help="With --dry-run: files of Quarterdeck's own too, on a terminal.")]


@plainly
def install(
    scope: ScopeOption = Scope.USER,
    project: ProjectOption = None,
    transport: Annotated[Transport, typer.Option(help="A plugin, or hooks in a settings file.")] = Transport.PLUGIN,
    enforce: Annotated[
        bool, typer.Option("--enforce", help="Enforce rules: no tool runs while Quarterdeck cannot be asked.")
    ] = False,
    dry_run: DryRun = False,
    full: Full = False,
    config: ConfigFile = None,
    json: AsJson = False,
) -> None:
    """Connect Claude Code, so that its sessions show here. Again brings the connection up to date."""
    chosen = settings(config)
    if not dry_run:
        Home(home_path()).keep_forwarder(Path(hook.__file__))
    report = connect.install(
        connect.InstallOptions(
            home=home_path(),
            config_dir=claude_config_dir(chosen),
            endpoint=endpoint(chosen),
            transport=transport,
            scope=scope,
            project=project,
            claude_path=chosen.claude.path,
            enforce=enforce,
            dry_run=dry_run,
        )
    )
    _show(report, json, full)


@plainly
def uninstall(
    scope: Annotated[Scope | None, typer.Option(help="Only there; without it everything goes.")] = None,
    project: ProjectOption = None,
    dry_run: DryRun = False,
    full: Full = False,
    config: ConfigFile = None,
    json: AsJson = False,
) -> None:
    """Disconnect Claude Code and leave its settings as they were."""
    chosen = settings(config)
    report = connect.uninstall(
        connect.UninstallOptions(
            home=home_path(),
            config_dir=claude_config_dir(chosen),
            scope=scope,
            project=project,
            claude_path=chosen.claude.path,
            dry_run=dry_run,
        )
    )
    _show(report, json, full)


def _show(report: connect.InstallReport, as_json: bool, full: bool) -> None:
    """A program reads the whole diff; a person on a terminal that of files which are not ours, unless all is wanted."""
    for warning in report.warnings:
        sys.stderr.write(f"quarterdeck: {warning}\n")
    if as_json:
        print_json({"changed": report.changed, "diff": report.diff, "lines": list(report.lines)})
        return
    brief = out.is_terminal and not full
    sys.stdout.write(report.theirs if brief else report.diff)
    if report.ours:
        more = "; --full shows them" if brief else ""
        count = "1 file" if report.ours == 1 else f"{report.ours} files"
        out.print(cell(f"And {count} of Quarterdeck's own in {home_path()}{more}."))
    for line in report.lines:
        out.print(cell(line))


def endpoint(config: Config) -> Endpoint:
    """Where hooks report to: the running daemon, or where the next one will be."""
    prepare_home(home_path())
    home = Home(home_path())
    return Endpoint(
        url=_url(home, config),
        hook_token=home.token("hook-token"),
        wait_seconds=config.decide.wait_seconds,
        socket=str(home.socket),
        python=str(Path(sys.executable).resolve()),
        hook_file=str(home.forwarder),
        holds_stop=config.decide.hold_stop,
    )


def _url(home: Home, config: Config) -> str:
    note = home.read_note()
    if note is not None:
        return str(note["url"])
    port = config.runner.port or kept_port(home)
    if not port:
        raise QuarterdeckError("no port has been chosen yet; start Quarterdeck once with: qd up")
    return f"http://{config.runner.host}:{port}"


@plainly
def doctor(config: ConfigFile = None, json: AsJson = False) -> None:
    """Examine the set-up and say how to mend what is wrong."""
    found = checks(home_path(), config)
    if json:
        print_json(
            {"checks": [{"name": c.name, "ok": c.ok, "says": c.says, "fix": c.fix} for c in found], "next": None}
        )
    else:
        for check in found:
            _show_check(check)
    if not all(check.ok for check in found):
        raise typer.Exit(1)


def _show_check(check: Check) -> None:
    out.print(cell(f"{'✓' if check.ok else '✗'} {check.name}: {check.says}", "" if check.ok else "red"))
    if check.fix:
        out.print(cell(f"    → {check.fix}", "bold" if not check.ok else "dim"))


def register(cli: typer.Typer) -> None:
    for command in (install, uninstall, doctor):
        cli.command()(command)
