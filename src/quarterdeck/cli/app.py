"""All commands put together."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from quarterdeck import __version__
from quarterdeck.cli import (
    access,
    configuring,
    connecting,
    deciding,
    demo,
    exporting,
    mcp,
    notifying,
    plugins,
    projects,
    reading,
    rules,
    running,
    sessions,
)

HELP = """Mission control for coding agents: see every Claude Code session, decide from anywhere, keep the record.

With no command it does what `up` does."""

cli = typer.Typer(help=HELP, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"quarterdeck {__version__}\n")
        raise typer.Exit


@cli.callback(invoke_without_command=True)
def quarterdeck(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        running.up()


for group in (
    running,
    connecting,
    reading,
    exporting,
    deciding,
    sessions,
    rules,
    projects,
    plugins,
    mcp,
    access,
    notifying,
    configuring,
    demo,
):
    group.register(cli)


@cli.command("hook", help="Forward one hook payload from stdin to the daemon: what Claude Code runs as a command hook.")
def hook_help(
    socket: Annotated[str | None, typer.Option(help="The daemon's socket.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = 86410,
    enforce: Annotated[bool, typer.Option("--enforce", help="Every failure blocks instead of staying silent.")] = False,
) -> None:
    """Only reached for its help: `main` runs the forwarder itself."""
