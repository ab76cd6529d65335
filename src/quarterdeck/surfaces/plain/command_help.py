"""The help of plain mode, and the command that a typed word names; pure."""

from __future__ import annotations

from quarterdeck.surfaces.terminal.text_commands import PLAIN_COMMANDS

NAMES = tuple(dict.fromkeys(command.name.partition(" ")[0] for command in PLAIN_COMMANDS))
INTRO = (
    "Each request gets a number that is never used again. allow, deny and pass take several: allow 2,3,5.",
    "SESSION is a project's name or the start of an id. cancel leaves any prompt.",
)


class CommandEnded(Exception):
    """A typed command ends without doing anything. Its words say why."""


def help_lines(about: str = "") -> list[str]:
    """Every command, one a line; or only those that start with `about`."""
    matches = [command for command in PLAIN_COMMANDS if command.name.startswith(about)]
    lines = [f"{command.name} {command.takes}".rstrip() + f": {command.words}" for command in matches]
    return (lines or [f"No such command: {about}"]) if about else [*INTRO, *lines]


def find_command(word: str) -> str:
    """The command a word names. Raises `CommandEnded` when it names none: a command is never guessed from its start,
    because it may decide something."""
    if word in NAMES:
        return word
    similar = [name for name in NAMES if word and name.startswith(word)]
    hint = f"did you mean {' or '.join(similar)}?" if similar else "help lists them"
    raise CommandEnded(f"No such command: {word}; {hint}" if word else "help lists the commands")
