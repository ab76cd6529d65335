"""Help in plain words: no name of a Python type, and no inequality."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from quarterdeck.cli.app import cli_for


def helps(command: Any, path: str) -> Iterator[str]:
    """The help of a command and of everything below it."""
    yield command.get_help(typer.Context(command, info_name=path))
    for name, below in getattr(command, "commands", {}).items():
        yield from helps(below, f"{path} {name}")


def test_no_help_names_a_type_or_an_inequality() -> None:
    texts = list(helps(typer.main.get_command(cli_for(["--help"])), "qd"))
    assert len(texts) > 60
    assert [
        text for text in texts if re.search(r"<(str|int|float|list|path|dir|file)\b|x>=|<=x|[{}]\w+[{}]", text)
    ] == []


def test_limits_values_and_arguments_are_written_out() -> None:
    command = typer.main.get_command(cli_for(["feed"]))
    text = " ".join(next(one for one in helps(command, "qd") if one.startswith("Usage: qd feed")).split())
    assert "--limit N Maximum number of lines (the latest); with --after, of events. (default: 50; 1 to 1000)" in text
    assert "--after N Only events after this seq_no. (at least 0)" in text
    assert "--kind TEXT" in text
