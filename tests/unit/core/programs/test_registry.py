from __future__ import annotations

from quarterdeck.core.programs.grammar import Command
from quarterdeck.core.programs.operands.checks import CHECKS
from quarterdeck.core.programs.registry import known_programs, program

PLACES = {"-", "@", "?", "!", ">", ">first", ">second"}


def test_a_program_is_found_by_its_path_its_version_and_another_name() -> None:
    assert program("git") is program("/usr/bin/git")
    assert program("pip3.11") is program("pip")
    assert program("podman") is program("docker")
    assert program("frobnicate") is None


def commands(command: Command) -> list[Command]:
    below = [inner for word, each in command.subcommands.items() if word != "**" for inner in commands(each)]
    return [command, *below]


def test_every_grammar_can_be_read_and_names_known_checks() -> None:
    for name in known_programs():
        root = program(name)
        assert root is not None
        for command in commands(root):
            kind = command.operands
            assert kind in PLACES or kind[1:] in CHECKS, command.path
            for option, value in ((option, found.value) for option, found in command.options.items()):
                assert value in ("", ">", "@", ";") or value[1:] in CHECKS, (command.path, option)
