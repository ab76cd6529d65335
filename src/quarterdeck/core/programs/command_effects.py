"""The effects of any command, whether its program has a grammar or not, and whether a rule covers them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quarterdeck.core.programs import command_reader, interpreters
from quarterdeck.core.programs.command_reader import WordEffects, effect_text
from quarterdeck.core.programs.grammar import (
    MORE,
    NAMED,
    OPERAND,
    OUTSIDE,
    PROGRAM,
    PROJECT,
    SECRET,
    UNKNOWN,
    WRITE,
    Effects,
    word_set,
)
from quarterdeck.core.programs.project_paths import Folder, is_inside, run
from quarterdeck.core.programs.registry import program

__all__ = ["WordEffects", "command_effects", "covers_rest", "effect_text", "implied", "interprets", "is_indirect"]

INDIRECT = PROGRAM | OPERAND | OUTSIDE | UNKNOWN | SECRET | NAMED
"""Effects of arguments that run, write or show something, beyond what the name of the command says."""
_HARMLESS_FOR_PROJECT = PROJECT | WRITE | NAMED | MORE
PLAIN_PROGRAMS = word_set("cat cd cut echo egrep fgrep grep head ls nl rev stat tac tail tr wc")
"""The most frequent commands, which have no effect whatever their arguments are. A look-up saves most of the time."""
interprets = interpreters.interprets


def command_effects(
    words: Sequence[str], folder: Folder = "", named: int = 0, found: list[WordEffects] | None = None
) -> Effects:
    """The effects of a command. The first `named` words do not count: a rule names them. `found`: a list to which the
    words with effects are added."""
    name = words[0]
    if name in PLAIN_PROGRAMS:
        return 0
    if (command := program(name)) is not None:
        if name == "coverage" and (at := _module_place(words)):
            inner = command_effects(("python", *words[at:]), folder, max(named - at + 1, 0), found)
            return inner | command_reader.effects_of(command, words[:at], folder, named, found)
        return command_reader.effects_of(command, words, folder, named, found)
    if len(words) > 1 and name.rpartition("/")[2].startswith(("python", "pypy")):
        return _python(words, folder, named, found)
    if interpreters.runs_or_writes(words, named):
        if found is not None:
            found.append(WordEffects(" ".join(words[named:]), PROGRAM))
        return PROGRAM
    at = interpreters.script_place(words)
    if at >= max(named, 1) and run(words[at], folder):
        if found is not None:
            found.append(WordEffects(words[at], PROGRAM))
        return PROGRAM
    return 0


def _module_place(words: Sequence[str]) -> int:
    """The place of `-m` in `coverage run -m pytest`; 0 if it runs no module."""
    at = words.index("-m") if "-m" in words else 0
    runs = words[1:2] in (("run",), ["run"]) and at + 1 < len(words) and all(word[:1] == "-" for word in words[2:at])
    return at if runs else 0


def _python(words: Sequence[str], folder: Folder, named: int, found: list[WordEffects] | None) -> Effects:
    """The effects of Python: a module after `-m` is treated like a program, a script like the project's code."""
    if words[1] == "-m" and len(words) > 2:
        return command_effects((_module(words[2]), *words[3:]), folder, max(named - 2, 0), found)
    if words[1].rpartition("/")[2] == "manage.py" and is_inside(words[1], folder):
        return command_effects(("manage.py", *words[2:]), folder, max(named - 1, 0), found)
    effects = PROGRAM if interpreters.runs_or_writes(words, named) else 0
    if not effects and (at := _script_place(words)) >= named:
        effects = run(words[at], folder)
    if effects and found is not None:
        found.append(WordEffects(" ".join(words[named:]), effects))
    return effects


def _module(name: str) -> str:
    """The program that a module after `-m` is; those of Python itself have their own names in the grammars."""
    return f"py:{name}" if program(f"py:{name}") is not None else interpreters.known_name(name)


def _script_place(words: Sequence[str]) -> int:
    """The place of Python's script; -1 if there is none."""
    at = 1
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in ("-W", "-X", "--check-hash-based-pycs") else 1
    return at if at < len(words) else -1


def implied(prefix: tuple[str, ...]) -> Effects:
    """The effects that a rule with these first words covers, apart from those of the words themselves."""
    if len(prefix) > 2 and prefix[1] == "-m" and prefix[0].rpartition("/")[2].startswith(("python", "pypy")):
        prefix = (_module(prefix[2]), *prefix[3:])
    if len(prefix) > 1 and prefix[1].rpartition("/")[2] == "manage.py":
        prefix = ("manage.py", *prefix[2:])
    if program(prefix[0]) is None:
        return (
            PROJECT | NAMED if len(prefix) == 1 and interpreters.known_name(prefix[0]).startswith("python") else NAMED
        )
    return command_reader.implied_effects(prefix)


def covers_rest(prefix: tuple[str, ...], words: Sequence[str], folder: Folder = "") -> bool:
    """True if a rule that names the first words of a command covers the effects of the others."""
    return not command_effects(words, folder, len(prefix)) & ~implied(prefix)


def is_indirect(effects: Effects) -> bool:
    """True if a command may do more than its name says: its arguments run, write or show something."""
    return effects & INDIRECT != 0


def stays_in_project(words: Sequence[str], folder: Folder) -> bool:
    """True if a known program, or a script of the project, only reads, writes in the project and runs the project's own
    code."""
    name = words[0]
    if program(name) is None:
        script = name
        if words[1:2] == ("-m",) and len(words) > len(("python", "-m")) and program(words[2]) is not None:
            return not command_effects(words, folder) & ~_HARMLESS_FOR_PROJECT
        if interpreters.known_name(name).startswith("python") and (at := _script_place(words)) > 0 and words[1] != "-m":
            script = words[at]
        return (
            _SCRIPT.fullmatch(script) is not None and is_inside(script, folder) and not command_effects(words, folder)
        )
    return not command_effects(words, folder) & ~_HARMLESS_FOR_PROJECT


_SCRIPT = re.compile(r"[\w./-]+\.(?:py|rb|sh)")


def could_run_or_write(name: str) -> bool:
    """True if arguments not visible here could make the program run another or write."""
    return program(name) is not None or interpreters.could_run_or_write(name)
