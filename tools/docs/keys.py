"""Keys and commands of the terminal UI, from the tables that it works by."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from quarterdeck.surfaces.terminal.text_commands import COMMANDS, PLAIN_COMMANDS, TextCommand
from quarterdeck.surfaces.tui.keys.help_screen import key_names
from quarterdeck.surfaces.tui.keys.key_reference import PLACES
from tools.docs.tables import table


def key_tables() -> str:
    """A heading and a table for each place where keys work."""
    return "\n".join(f"### {title}\n\n{_keys(bindings)}" for title, bindings in PLACES)


def _keys(bindings: Iterable[BindingType]) -> str:
    made = (binding if isinstance(binding, Binding) else Binding(*binding) for binding in bindings)
    rows = ((" ".join(f"`{name}`" for name in key_names(one)), one.tooltip or one.description) for one in made)
    return table(("key", "does"), rows)


def text_command_table() -> str:
    """Every command of the `:` line."""
    return _commands(COMMANDS)


def plain_table() -> str:
    """Every command of plain mode."""
    return _commands(PLAIN_COMMANDS)


def _commands(commands: Iterable[TextCommand]) -> str:
    return table(
        ("command", "does"),
        ((f"`{command.name} {command.takes}".rstrip() + "`", command.words) for command in commands),
    )
