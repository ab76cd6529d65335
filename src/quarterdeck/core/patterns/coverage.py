"""The effects that an allow rule for a command covers, in words, for the person who saves it."""

from __future__ import annotations

import re

from quarterdeck.core.patterns.rule_words import BASH
from quarterdeck.core.programs.command_effects import PLAIN_PROGRAMS, effect_text, implied
from quarterdeck.core.programs.grammar import MORE, NAMED, OPERAND
from quarterdeck.core.programs.interpreters import KNOWN_PROGRAMS, known_name
from quarterdeck.core.programs.registry import program

_OPEN_RULE = re.compile(rf"{BASH}\(([^'\"\\*()]+?)(?::\*| \*)\)")


def coverage(pattern: str) -> str:
    """What an allow rule with an open end covers; empty for any other pattern."""
    match = _OPEN_RULE.fullmatch(pattern.strip())
    if match is None:
        return ""
    words = tuple(match[1].split())
    name = words[0]
    if not is_judged(words):
        return f"covers whatever the arguments say: Quarterdeck does not know {name}"
    if program(name) is None:
        return ""
    effects = effect_text(implied(words) & ~(NAMED | MORE))
    return "covers what only reads" + (f", {effects.replace(' and ', ', ')}" if effects else "")


def is_judged(words: tuple[str, ...]) -> bool:
    """True if Quarterdeck can judge the arguments of a command, by a grammar or by what is known about it."""
    name = words[0]
    return program(name) is not None or name in PLAIN_PROGRAMS or known_name(name) in KNOWN_PROGRAMS


def runs_anything(words: tuple[str, ...]) -> bool:
    """True if a rule with these first words covers whatever program, package or image comes next: `docker run`."""
    command = program(words[0])
    for word in words[1:]:
        if command is not None:
            command = command.subcommand(word)
    if command is None or command.subcommands or _STOPS.isdisjoint(command.flags):
        return False
    return bool((command.effects | command.operand_effects) & OPERAND)


_STOPS = frozenset(("stop", "stop2"))
"""Flags of commands that hand the rest of their words to another program."""
