"""The help of the commands in plain words: values instead of Python's types, and limits as sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from quarterdeck.config.value_words import demand

VALUES = {
    "str": "TEXT",
    "list[str]": "TEXT",
    "int range": "N",
    "float": "N",
    "float range": "N",
    "path": "PATH",
    "list[Path]": "PATH",
    "file": "FILE",
    "dir": "DIR",
}
"""How the value of an option is written, by Typer's name for its type."""


class PlainCommand(TyperCommand):
    """A command with help and errors in plain words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except BadParameter as error:
            error.message = _demand_on(error.message)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(super().collect_usage_pieces(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(self, ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of commands with help in plain words."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(super().collect_usage_pieces(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def help_rows(command: Any, context: Any, kind: str) -> list[tuple[str, str]]:
    """The arguments (`argument`) or the options (`option`) of a command, each with its meaning."""
    params = [param for param in command.get_params(context) if param.param_type_name == kind]
    records = [record for param in params if (record := param.get_help_record(context))]
    return [(_spelled(names), _meaning(words)) for names, words in records]


def _demand_on(message: str) -> str:
    """`must be sdk, tmux or pty, is 'odd'` for the words of a validator; any other message as it is."""
    if not message.startswith(("Input should be ", "Value error, ")):
        return message
    value = re.search(r"'([^']*)' is not one of", message)
    return f"must be {demand(message)}{f', is {value[1]!r}' if value else ''}"


def _write_options(command: Any, context: Any, formatter: Any) -> None:
    for heading, kind in (("Arguments", "argument"), ("Options", "option")):
        if rows := help_rows(command, context, kind):
            with formatter.section(heading):
                formatter.write_dl(rows)


def _usage(pieces: Iterable[str]) -> list[str]:
    """Arguments as people write them: `ID…` for `{ID…}...`, `[LABEL…]` for `[[LABEL]…]...`."""
    return [_usage_piece(piece) for piece in pieces]


def _usage_piece(piece: str) -> str:
    piece = re.sub(r"^\{([a-z_]+)\}$|^\[([a-z_]+)\]$", lambda match: match[0].upper(), piece)
    piece = re.sub(r"^\{(.* .*)\}\.\.\.$", r"\1", piece)
    piece = re.sub(r"^\{(.*)\}", r"\1", piece)
    piece = re.sub(r"^\[\[([^]]*)\](…?)\]", r"[\1\2]", piece)
    return piece.replace("…...", "…").replace("…]...", "…]").replace("...", "…")


def _spelled(names: str) -> str:
    """`--limit N` for `--limit <int range>`; an argument without its type."""
    if names.startswith("-"):
        return re.sub(r"<([^>]*)>", lambda match: VALUES.get(match[1], match[1]), names)
    name = re.sub(r" <[^>]*>$", "", names)
    return name.upper() if name.islower() else name


def _meaning(words: str) -> str:
    """The help of an option, with its default and limits in plain words."""
    words = re.sub(r"([\d.]+)<=x<=([\d.]+)", r"\1 to \2", words)
    words = re.sub(r"x>=([\d.]+)", r"at least \1", words)
    return re.sub(r"\s*\[([^]]*)\]$", r" (\1)", words)
