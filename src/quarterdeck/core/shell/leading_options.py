"""Harmless options in front of what a rule names: `git --no-pager log`, `kubectl -n staging get`, `curl -s http://localhost`.

An option without effect says nothing about what a command does, so a rule for `git log` covers `git --no-pager log`.
Only options that the grammar knows, with harmless values, are left out. What follows is judged as it is written. The
words that choose a part of the project or a toolchain are left out too: `yarn workspace web test`,
`cargo +nightly fmt`, `gradle :core:test`, `mvn clean test`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from quarterdeck.core.programs.command_reader import option_effects
from quarterdeck.core.programs.grammar import OUTSIDE, PROGRAM, SECRET, SEND, WRITE, Command
from quarterdeck.core.programs.operands.checks import ANY_ORDER
from quarterdeck.core.programs.project_paths import Folder
from quarterdeck.core.programs.registry import program


def without_leading_options(words: tuple[str, ...], folder: Folder) -> tuple[str, ...]:
    """The command without its harmless options, up to the first word that has an effect, is unknown or is `--`. The
    same words if there are none to leave out."""
    command = program(words[0])
    if command is None or "exact" in command.flags:
        return words
    words = _without_choice(command.path[0], words)
    kept, at = [words[0]], 1
    while command.subcommands and at < len(words):
        if _is_option(words[at]):
            after = _after_harmless(command, words, at, folder)
            if after is None:
                return (*kept, *words[at:])
            at = after
            continue
        below = command.subcommand(words[at])
        if below is None:
            break
        command = below
        kept.append(words[at])
        at += 1
    if not _in_any_order(command):
        return (*kept, *words[at:])
    return (*kept, *_operands_first(command, words, at, folder))


def _without_choice(name: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The command without the words that choose a workspace, a toolchain or a subproject, and without `clean`."""
    if name == "yarn" and words[1:2] == ("workspace",) and len(words) > len(("yarn", "workspace", "web")):
        return (words[0], *words[3:]) if _PLAIN_NAME.fullmatch(words[2]) else words
    if name == "cargo" and len(words) > 1 and _TOOLCHAIN.fullmatch(words[1]):
        return (words[0], *words[2:])
    if name in _BUILDS_JAVA:
        chosen = [_TASK.sub("", word) if _SUBPROJECT.fullmatch(word) else word for word in words[1:]]
        tasks = [word for word in chosen if not _is_option(word)]
        if tasks[:1] == ["clean"] and len(tasks) > 1:
            chosen.remove("clean")
        return (words[0], *chosen)
    return words


_PLAIN_NAME = re.compile(r"@?[A-Za-z0-9_][\w./-]*")
_TOOLCHAIN = re.compile(r"\+(?:stable|beta|nightly)(?:-\d{4}-\d\d-\d\d)?|\+\d+(?:\.\d+)*")
_BUILDS_JAVA = frozenset(("gradle", "gradlew", "mvn", "mvnw"))
_SUBPROJECT = re.compile(r"(?::[A-Za-z][\w-]*){2,}")
_TASK = re.compile(r".*:")


def _operands_first(command: Command, words: tuple[str, ...], at: int, folder: Folder) -> Sequence[str]:
    """The words after the subcommand, without harmless options."""
    kept: list[str] = []
    while at < len(words):
        if not _is_option(words[at]):
            kept.append(words[at])
            at += 1
            if not _OWN.isdisjoint(command.flags):
                break
            continue
        after = _after_harmless(command, words, at, folder)
        if after is None:
            break
        at = after
    return (*kept, *words[at:])


_OWN = frozenset(("stop", "stop2"))
"""Flags of commands of which the words after an operand belong to another program."""


def _in_any_order(command: Command) -> bool:
    """True if the command changes nothing by itself (`rm -r build` is more than `rm build`), and the effects of its
    operands do not depend on where the options are."""
    kind = command.operands
    return not command.effects & _CHANGES and (kind[:1] != ":" or kind[1:] in ANY_ORDER)


_CHANGES = WRITE | SEND | OUTSIDE | SECRET | PROGRAM


def _is_option(word: str) -> bool:
    return word[:1] == "-" and len(word) > 1


def _after_harmless(command: Command, words: Sequence[str], at: int, folder: Folder) -> int | None:
    """The place after a harmless option and its value; None if it is not known to be harmless."""
    if words[at] == "--":
        return None
    after, effects = option_effects(command, words, at, folder)
    return None if effects or after > len(words) else after
