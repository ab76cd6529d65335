"""The commands of `qd`, from the help that they print themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from quarterdeck.cli.app import cli_for
from quarterdeck.cli.help_text import help_rows
from tools.docs.tables import table


def command_table() -> str:
    """Every command in one line, with a link to its section."""
    commands = _root().commands
    rows = ((f"[`qd {name}`](#qd-{name})", command.get_short_help_str(400)) for name, command in commands.items())
    return table(("command", "does"), rows)


def command_sections() -> str:
    """Every command with its arguments and options."""
    return "\n".join(_sections(_root(), "qd"))


def _root() -> Any:
    """All commands as one group. Typer ships a Click of its own, whose types are private."""
    return typer.main.get_command(cli_for(["--help"]))


def _sections(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        here = f"{path} {name}"
        yield _section(command, here)
        if hasattr(command, "commands"):
            yield from _sections(command, here)


def _section(command: Any, path: str) -> str:
    context = typer.Context(command, info_name=path)
    rows = [row for kind in ("argument", "option") for row in help_rows(command, context, kind)]
    rows = [(f"`{names}`", words) for names, words in rows if names != "--help"]
    pieces = [piece for piece in command.collect_usage_pieces(context) if rows or piece != "[OPTIONS]"]
    usage = " ".join([path, *pieces])
    level = "#" * (path.count(" ") + 2)
    parts = [f"{level} {path}\n", f"{inspect.cleandoc(command.help or '')}\n", f"```\n{usage}\n```\n"]
    return "\n".join([*parts, table(("argument or option", "meaning"), rows)] if rows else parts)
