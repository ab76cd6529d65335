"""The help of `qd`: commands under headings."""

from __future__ import annotations

from quarterdeck import __version__
from quarterdeck.cli.quick.command_index import CommandIndex, IndexedCommand, read_index
from quarterdeck.cli.quick.root_help import root_help, version_text


def test_commands_stand_under_their_headings() -> None:
    commands = {name: IndexedCommand(name, f"Do {name}.", [], []) for name in ("up", "give-back")}
    text = root_help(CommandIndex("A program.", [("Every day", ["up"]), ("Sessions", ["give-back"])], commands))
    assert text.startswith("Usage: qd [OPTIONS] COMMAND [ARGS]…\n\n  A program.\n")
    assert "\nEvery day:\n  up              Do up.\n\nSessions:\n  give-back       Do give-back.\n" in text


def test_no_line_is_wider_than_a_terminal() -> None:
    assert max(map(len, root_help(read_index()).splitlines())) <= 80


def test_the_version_is_printed() -> None:
    assert version_text() == f"quarterdeck {__version__}\n"
