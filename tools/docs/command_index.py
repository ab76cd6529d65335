"""The index of all commands, for the help of `qd` and for completion."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from quarterdeck.cli.app import HELP, SECTIONS, cli_for
from quarterdeck.cli.quick.command_index import (
    CommandIndex,
    IndexedArgument,
    IndexedCommand,
    IndexedOption,
    index_text,
)

KINDS = {
    "SESSION": "sessions",
    "ID": "requests",
    "TOOL|REQUEST": "requests",
    "RULE": "rules",
    "TOKEN": "tokens",
    "FILE": "files",
    "DIR": "dirs",
    "PATH": "files",
}
"""The kind of value of an argument or option, by its name in the help."""
OPTION_KINDS = {"--session": "sessions", "--project": "dirs", "--cwd": "dirs"}


def commands_json() -> str:
    """The text of commands.json."""
    root: Any = typer.main.get_command(cli_for(["--help"]))
    commands = {one.path: one for one in _commands(root, "")}
    sections = [(heading, [n for names in modules.values() for n in names]) for heading, modules in SECTIONS.items()]
    sections[-1][1].append("hook")
    text = "\n".join(textwrap.fill(part, 76) if part else "" for part in HELP.split("\n"))
    return index_text(CommandIndex(text, sections, commands))


def _commands(group: Any, path: str) -> Iterator[IndexedCommand]:
    for name, command in group.commands.items():
        here = f"{path} {name}".lstrip()
        context = typer.Context(command, info_name=here)
        arguments = [
            IndexedArgument(_argument_values(param), param.nargs == -1)
            for param in command.get_params(context)
            if param.param_type_name == "argument"
        ]
        options = [
            IndexedOption([*param.opts, *param.secondary_opts], param.help or "", _option_values(param))
            for param in command.get_params(context)
            if param.param_type_name == "option" and "--help" not in param.opts
        ]
        yield IndexedCommand(here, command.get_short_help_str(400), arguments, options)
        if hasattr(command, "commands"):
            yield from _commands(command, here)


def _argument_values(param: Any) -> list[str] | str:
    return _words(param) or KINDS.get((param.metavar or param.name).strip("[]….").upper(), "") or _path_kind(param)


def _option_values(param: Any) -> list[str] | str | None:
    if param.is_flag or param.count:
        return None
    by_name = next((OPTION_KINDS[name] for name in param.opts if name in OPTION_KINDS), "")
    return _words(param) or by_name or _path_kind(param)


def _words(param: Any) -> list[str]:
    """The words of a closed choice: those of its type, or the ones its name lists, like sdk|pty|tmux."""
    annotation = param.type_descriptor.annotation
    if get_origin(annotation) is Literal:
        return [str(word) for word in get_args(annotation)]
    words = (param.metavar or "").strip("[]…").split("|")
    return (
        words
        if len(words) > 1 and all(re.fullmatch("[a-zA-Z]+", word) and not word.isupper() for word in words)
        else []
    )


def _path_kind(param: Any) -> str:
    """Whether the value is a file or a folder; empty for another type."""
    annotation, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
    is_path = Path in (annotation, *get_args(annotation))
    return ("files" if info.file_okay else "dirs") if is_path else ""
