"""All commands put together; of a known one only its own group is read, so that it starts soon."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from quarterdeck import __version__

HELP = """Mission control for coding agents: see every Claude Code session, decide from anywhere, keep the record.

With no command it does what `up` does."""

GROUPS: dict[str, tuple[str, ...]] = {
    "admin.daemon": ("up", "daemon", "stop", "status"),
    "admin.install": ("install", "uninstall", "doctor"),
    "commands.queries": ("sessions", "feed", "requests"),
    "admin.audit": ("audit",),
    "admin.export": ("export",),
    "commands.decisions": ("allow", "deny", "answer", "pass"),
    "commands.sessions": (
        "run",
        "send",
        "interrupt",
        "end",
        "resume",
        "fork",
        "takeover",
        "switch",
        "attach",
        "give-back",
    ),
    "commands.worktrees": ("worktrees",),
    "commands.rules": ("rules",),
    "commands.projects": ("projects",),
    "commands.plugins": ("plugins",),
    "commands.mcp": ("mcp",),
    "admin.tokens": ("login-url", "tokens"),
    "admin.notify": ("notify",),
    "admin.config": ("config",),
    "admin.demo": ("demo",),
}
"""The module of each group of commands, in the order of the help."""


def cli_for(arguments: list[str]) -> typer.Typer:
    """The commands that these arguments may mean: one group, or all of them."""
    wanted = arguments[0] if arguments else "up"
    meant = [module for module, commands in GROUPS.items() if wanted in commands]
    cli = typer.Typer(help=HELP, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    cli.callback(invoke_without_command=True)(quarterdeck)
    for module in meant or GROUPS:
        import_module(f"quarterdeck.cli.{module}").register(cli)
    if not meant:
        cli.command("hook", help=HOOK_HELP)(hook_help)
    return cli


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"quarterdeck {__version__}\n")
        raise typer.Exit


def quarterdeck(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        from quarterdeck.cli.admin import daemon as running

        running.up()


HOOK_HELP = "Forward one hook payload from stdin to the daemon. It is what Claude Code runs as a command hook."


def hook_help(
    socket: Annotated[str | None, typer.Option(help="The daemon's socket.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds to wait for an answer.")] = 86410,
    enforce: Annotated[bool, typer.Option("--enforce", help="Every failure blocks instead of staying silent.")] = False,
) -> None:
    """Only reached for its help: `main` runs the forwarder itself."""
