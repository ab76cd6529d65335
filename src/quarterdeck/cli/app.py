"""The command line app. For a known command only its own group is imported, so that it starts fast. The help of `qd`
itself, its version and completion come from `quick`, without Typer."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from quarterdeck.cli.common import command, group, option, report_errors, use_remote
from quarterdeck.cli.quick.root_help import ADDRESS_HELP, FILE_HELP
from quarterdeck.errors import Misused
from quarterdeck.surfaces.client.remote import remote_daemon

HELP = """Mission control for coding agents: see every Claude Code session, decide from anywhere, keep the record.

Without a command it runs `up`."""

SECTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "Every day": {
        "admin.daemon": ("up", "status", "stop", "daemon"),
        "commands.queries": ("sessions", "requests"),
        "commands.event_feed": ("feed",),
        "commands.decisions": ("allow", "deny", "answer", "pass"),
        "commands.deck": ("deck",),
    },
    "Sessions": {
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
    },
    "Rules and the record": {
        "commands.rules": ("rules",),
        "admin.audit": ("audit",),
        "commands.usage": ("usage",),
        "admin.export": ("export",),
        "admin.replay": ("replay",),
    },
    "Projects and Claude Code": {
        "commands.projects": ("projects",),
        "commands.plugins": ("plugins",),
        "commands.mcp": ("mcp",),
    },
    "Set-up": {
        "admin.install": ("install", "uninstall", "doctor"),
        "admin.login_service": ("service",),
        "admin.config": ("config",),
        "admin.notify": ("notify",),
        "access.devices": ("pair", "devices"),
        "access.tokens": ("login-url", "tokens"),
        "access.local_tls": ("tls",),
        "hub.hub_commands": ("hub",),
        "admin.demo": ("demo",),
        "admin.shell_help": ("completion", "help", "version"),
    },
}
"""The headings of the help, and below each the modules with their commands."""

GROUPS = {module: names for modules in SECTIONS.values() for module, names in modules.items()}
"""The commands of each module, in the order of the help."""


OF_THIS_MACHINE = frozenset(
    {
        "stop",
        "daemon",
        "install",
        "uninstall",
        "doctor",
        "service",
        "config",
        "notify",
        "demo",
        "export",
        "replay",
        "hook",
    }
)
"""Commands that do without another machine's daemon (`qd --url`)."""


def cli_for(arguments: list[str]) -> typer.Typer:
    """The app for these arguments: the group of their command, or every group for an unknown command or help."""
    name = _command_of(arguments)
    modules = [module for module, names in GROUPS.items() if name in names]
    cli = group(HELP, add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)
    cli.callback(invoke_without_command=True)(report_errors(quarterdeck))
    for module in modules or GROUPS:
        cli.add_typer(import_module(f"quarterdeck.cli.{module}").app)
    if not modules:
        hook = typer.Typer()
        command(hook, "hook", help=HOOK_HELP)(hook_help)
        cli.add_typer(hook)
    return cli


def _command_of(arguments: list[str]) -> str:
    """The command among these arguments; options of `qd` itself come before it."""
    words = iter(arguments)
    for word in words:
        if word in ("--url", "--token-file"):
            next(words, None)
        elif not word.startswith(("--url=", "--token-file=")):
            return word
    return "up"


def quarterdeck(
    context: typer.Context,
    url: Annotated[str | None, option(ADDRESS_HELP)] = None,
    token_file: Annotated[Path | None, option(FILE_HELP, dir_okay=False)] = None,
) -> None:
    named = remote_daemon(url, token_file)
    use_remote(named)
    if named is not None and context.invoked_subcommand in OF_THIS_MACHINE:
        raise Misused(f"--url: qd {context.invoked_subcommand} is about this machine; run it on the other one")
    if context.invoked_subcommand is None:
        from quarterdeck.cli.admin.daemon import up

        up()


HOOK_HELP = "Forward one hook payload from stdin to the daemon. Claude Code runs this as a command hook."


def hook_help(
    socket: Annotated[str | None, option("Socket of the daemon.")] = None,
    wait: Annotated[float, option("Seconds to wait for an answer.")] = 86410,
    enforce: Annotated[bool, option("Block the tool on every failure instead of staying silent.", "--enforce")] = False,
) -> None:
    """Stand-in for the help text only: `main` runs the forwarder itself."""
