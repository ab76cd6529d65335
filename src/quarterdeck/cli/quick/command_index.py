"""Every command with its arguments and options, from commands.json. `make docs` writes that file from the commands
themselves, because importing them takes ten times as long as reading it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "commands.json"


class IndexedOption(NamedTuple):
    """An option. `values` are its words, or the kind of its value (`sessions`, `files` …); empty for any text, None for
    a flag."""

    names: list[str]
    help: str
    values: list[str] | str | None


class IndexedArgument(NamedTuple):
    """An argument. `values` are like those of an option; `many` may follow each other."""

    values: list[str] | str
    many: bool


class IndexedCommand(NamedTuple):
    """A command, by its path below `qd`: `rules add`."""

    path: str
    summary: str
    arguments: list[IndexedArgument]
    options: list[IndexedOption]


class CommandIndex(NamedTuple):
    """All commands. `sections` are the headings of the help, each with its commands."""

    help: str
    sections: list[tuple[str, list[str]]]
    commands: dict[str, IndexedCommand]

    def below(self, path: str) -> list[IndexedCommand]:
        """The commands of a group; of `qd` itself for an empty path."""
        start = f"{path} " if path else ""
        return [one for name, one in self.commands.items() if name.startswith(start) and " " not in name[len(start) :]]


def read_index() -> CommandIndex:
    """The index, from its file."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    commands = {}
    for path, summary, arguments, options in found["commands"]:
        known = [IndexedArgument(*one) for one in arguments], [IndexedOption(*one) for one in options]
        commands[path] = IndexedCommand(path, summary, *known)
    return CommandIndex(found["help"], [(heading, names) for heading, names in found["sections"]], commands)


def index_text(index: CommandIndex) -> str:
    """The text of the file, with a line for each command."""
    commands = ",\n".join(json.dumps(one, ensure_ascii=False) for one in index.commands.values())
    sections = ",\n".join(json.dumps(one, ensure_ascii=False) for one in index.sections)
    head = json.dumps(index.help, ensure_ascii=False)
    return f'{{"help": {head},\n"sections": [\n{sections}\n],\n"commands": [\n{commands}\n]}}\n'
