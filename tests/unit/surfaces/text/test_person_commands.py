"""The commands of a person on one session."""

from __future__ import annotations

from quarterdeck.surfaces.text.person_commands import SESSION_COMMANDS


def test_no_two_commands_share_a_key_or_a_name() -> None:
    keys = [command.key for command in SESSION_COMMANDS.values() if command.key]
    names = [command.command for command in SESSION_COMMANDS.values()]
    assert len(keys) == len(set(keys))
    assert len(names) == len(set(names))


def test_the_key_is_shown_as_it_is_typed() -> None:
    assert SESSION_COMMANDS["write"].key_shown == ">"
    assert SESSION_COMMANDS["end"].key_shown == "E"
