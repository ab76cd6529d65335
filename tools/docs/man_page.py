"""The manual page `qd(1)`, from the same commands as docs/cli.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from quarterdeck.cli.app import HELP, cli_for
from quarterdeck.cli.help_text import help_rows
from quarterdeck.cli.quick.root_help import OPTIONS

MAN = Path(__file__).parents[2] / "docs" / "man" / "qd.1"
EXIT_CODES = (
    ("0", "done"),
    ("1", "refused; one line on stderr names the problem and the next step"),
    ("2", "wrong use"),
    ("3", "no daemon answers"),
    ("130", "stopped with Ctrl-C"),
)
FILES = (
    ("$QUARTERDECK_HOME", "the home folder (default: quarterdeck in your user data folder)"),
    ("$QUARTERDECK_HOME/config.yaml", "the settings; `qd config show` lists them"),
)


def man_page() -> str:
    """The page in troff."""
    root: Any = typer.main.get_command(cli_for(["--help"]))
    summary, _, more = HELP.partition("\n\n")
    lines = [
        '.\\" Written by `make docs`.',
        '.TH QD 1 "" "Quarterdeck" "User Commands"',
        ".SH NAME",
        f"qd, quarterdeck \\- {_text(summary[:1].lower() + summary[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B qd",
        "[OPTIONS] COMMAND [ARGS]…",
        ".SH DESCRIPTION",
        _text(f"{summary} {more}"),
        ".SH OPTIONS",
        *_rows(OPTIONS),
        ".SH COMMANDS",
        *_commands(root, "qd"),
        ".SH EXIT STATUS",
        *_rows(EXIT_CODES),
        ".SH FILES",
        *_rows(FILES),
    ]
    return "\n".join(lines) + "\n"


def _commands(group: Any, path: str) -> Iterator[str]:
    for name, command in group.commands.items():
        here = f"{path} {name}"
        context = typer.Context(command, info_name=here)
        yield f".SS {_text(' '.join([here, *command.collect_usage_pieces(context)]))}"
        yield _text(" ".join(inspect.cleandoc(command.help or "").split()))
        rows = [row for kind in ("argument", "option") for row in help_rows(command, context, kind)]
        yield from _rows([row for row in rows if not row[0].endswith("--help")])
        if hasattr(command, "commands"):
            yield from _commands(command, here)


def _rows(rows: Any) -> Iterator[str]:
    for name, words in rows:
        yield from (".TP", f".B {_text(name)}", _text(words))


def _text(words: str) -> str:
    """Text without anything that troff would read as a request."""
    escaped = re.sub(r"`([^`]*)`", r"\1", words).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
