"""Reads a command by the grammar of its program: its effects, and those that a rule for it covers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from quarterdeck.core.programs import project_paths
from quarterdeck.core.programs.grammar import (
    EFFECT_WORDS,
    FETCH,
    MORE,
    NAMED,
    NEVER_IMPLIED,
    PROGRAM,
    UNKNOWN,
    WRITE,
    Command,
    Effects,
    Option,
)
from quarterdeck.core.programs.operands import checks, word_checks
from quarterdeck.core.programs.project_paths import Folder
from quarterdeck.core.programs.registry import program

_NUMBER = "-#"
"""The option that stands for a number, as in `head -5`."""
_REST = "--*"
"""The option that stands for any other long one."""


class WordEffects(Struct, frozen=True):
    """A word of a command and its effects."""

    word: str
    effects: Effects


_Found = list[WordEffects] | None
_OPERAND_VALUES = frozenset(("@", ":package", ":url"))
"""Options whose value is another operand: `pip install -r FILE`."""
_MISSING = {"": 0, ">": WRITE}
"""Effects of an option without its value, as a rule may end with."""
_PLACES = {">first": 0, ">second": 1}


def effects_of(
    command: Command, words: Sequence[str], folder: Folder = "", named: int = 0, found: _Found = None
) -> Effects:
    """The effects of a command by this grammar. The first `named` words do not count: a rule names them. `found`:
    a list to which each word with effects is added, to explain them."""
    effects, at, size = 0, 1, len(words)
    while command.subcommands:
        if at >= size:
            if command.path[-1] == "**":  # no verb that is known
                _add(found, words[-1], UNKNOWN)
                return effects | UNKNOWN
            return effects | command.effects if len(command.path) > 1 else effects
        word = words[at]
        if word[:1] == "-" and len(word) > 1:
            at, more = option_effects(command, words, at, folder)
            if more and at > named:
                effects |= more
                _add(found, word, more)
            continue
        below = command.subcommands.get(word) or command.subcommand(word)
        at += 1
        if below is None:
            if "open" in command.flags:
                at -= 1
                break
            if at <= named:
                return effects
            _add(found, word, UNKNOWN)
            return effects | UNKNOWN
        command = below
    if command.effects:
        if found is not None:
            _add(found, " ".join(command.path).replace("py:", "python -m "), command.effects)
        effects |= command.effects
    if command.plain_operands:
        safe, inside = command.safe, command.inside
        skipped = 0
        for index in range(at, size):
            word = words[index]
            if word[:1] != "-" or len(word) == 1:
                continue
            if word in safe or (
                "=" in word
                and ((name := word.partition("=")[0]) in safe or (name in inside and _stays(word.lstrip("-"))))
            ):
                if word == "--" and not _awaits_value(command, words[index - 1]):
                    break
                continue
            if word in inside and index + 1 < size and _stays(words[index + 1] if inside[word] else ""):
                continue
            if index < skipped or word == "--" or (_NUMBER in safe and word[1:].isdigit()):
                continue
            after, more = option_effects(command, words, index, folder)
            if "exact" in command.flags:
                skipped = after
            if more and after > named:
                effects |= more
                _add(found, word, more)
        return effects if command.operands == "-" else effects | _compared(words, max(at, named), folder, found)
    return effects | _judge(command, words, at, folder, named, found)


def _compared(words: Sequence[str], at: int, folder: Folder, found: _Found) -> Effects:
    """The effects of the operands of `git diff`, its most frequent command, without telling them from values."""
    effects = 0
    for word in words[at:]:
        if (word[:1] in _MAY_LEAD_ELSEWHERE or "/.." in word) and (more := word_checks.compared(word, folder)):
            effects |= more
            _add(found, word, more)
    return effects


_MAY_LEAD_ELSEWHERE = frozenset("/~.")


def _awaits_value(command: Command, word: str) -> bool:
    """True if an option takes the next word, even if that is `--`."""
    option = command.options.get(word)
    return option is not None and option.takes > 0 and not option.attached


def _judge(command: Command, words: Sequence[str], at: int, folder: Folder, named: int, found: _Found) -> Effects:
    """The effects of the words after the subcommand, where operands have effects."""
    effects, size = 0, len(words)
    operands: list[str] = []
    values: set[int] = set()  # places of values that look like options, which no check may take for one
    named_operands = 0
    options, alone = command.options, command.alone
    flags = command.flags
    limit = 1 if "stop" in flags else 2 if "stop2" in flags else size
    ended = False
    while at < size:
        word = words[at]
        if word[:1] == "-" and len(word) > 1 and not ended:
            if word in alone or ("=" in word and word.partition("=")[0] in command.safe):
                at += 1
                continue
            if word in command.valued and (at + 1 >= size or words[at + 1][:1] != "-"):
                at += 2
                continue
            if word in command.inside and at + 1 < size and _stays(words[at + 1] if command.inside[word] else ""):
                at += 1 + command.inside[word]
                continue
            if word == "--":
                if (rest := options.get("--")) is not None:
                    if rest.value:
                        more = checks.CHECKS[rest.value[1:]](words[at + 1 :], words, folder, 0)
                        effects |= more
                        if more:
                            _add(found, " ".join(words[at + 1 :]), more)
                    break
                ended = True
                at += 1
                continue
            first = at
            at, more = option_effects(command, words, at, folder)
            for value in range(first + 1, min(at, size)):
                if _looks_like_option(words[value]):
                    more |= option_effects(command, words, value, folder)[1] & ~UNKNOWN
                    values.add(value)
            if more and at > named:
                effects |= more
                _add(found, word, more)
            continue
        at += 1
        if ended and word[:1] == "-" and at > named:  # not every program knows `--`
            effects |= UNKNOWN
            _add(found, word, UNKNOWN)
        operands.append(word)
        named_operands += at <= named
        if len(operands) >= limit:
            break
    if command.each and (word := _further_operand(command, operands, named_operands)):
        effects |= MORE
        _add(found, word, MORE)
    if values:
        words = [word for place, word in enumerate(words) if place not in values]
    if len(operands) > named_operands or command.operands[:1] == ":":
        effects |= _operands(command, operands, words, folder, named_operands, found)
    return effects


def _stays(value: str) -> bool:
    """A cheap test: true for a value that certainly leads nowhere else."""
    return "/" not in value and "~" not in value and ".." not in value and value[:1] != "-"


def _looks_like_option(word: str) -> bool:
    """True for a value that another version of a program may read as an option, so that it is judged as both."""
    return word[:1] == "-" and len(word) > 1 and not word[1:].isdigit()


def _further_operand(command: Command, operands: Sequence[str], named: int) -> str:
    """The first operand that a rule for another does not cover; empty if there is none."""
    further = operands[max(_needed_operands(command, operands), named) :]
    return next((word for word in further if "=" not in word or command.operands != ":make"), "")


def _needed_operands(command: Command, operands: Sequence[str]) -> int:
    """The number of operands that a rule must name to cover no other. `pod/web` names two in one."""
    return 1 if operands and "/" in operands[0] else command.each


def _operands(
    command: Command, operands: Sequence[str], words: Sequence[str], folder: Folder, named: int, found: _Found
) -> Effects:
    kind = command.operands
    effects = 0
    if kind[0] == ":":
        effects = checks.CHECKS[kind[1:]](operands, words, folder, named)
        if effects:
            _add(found, " ".join(operands), effects)
        return effects
    place = _PLACES.get(kind)
    for word in operands[named:] if place is None else operands[max(place, named) : place + 1]:
        if kind == "!":
            more = command.operand_effects
        elif kind[0] == ">":
            more = project_paths.written(word, folder)
        elif kind == "@":
            more = project_paths.run(word, folder)
        else:
            more = UNKNOWN if kind == "?" else 0
        if more:
            effects |= more
            _add(found, word, more)
    return effects


def option_effects(command: Command, words: Sequence[str], at: int, folder: Folder) -> tuple[int, Effects]:
    """The place after an option and its value, and their effects."""
    word, options, flags = words[at], command.options, command.flags
    if "dash" in flags and word[:2] == "--":
        word = word[1:]
    option = options.get(word)
    if option is not None:
        return _with_value(option, words, at, folder)
    name, equals, value = word.partition("=")
    if equals and (option := options.get(name)) is not None:
        return at + 1, _value_effects(option, value, folder)
    if word[:2] == "--" or "dash" in flags or "exact" in flags:
        option = None if "exact" in flags else _abbreviated(command, name)
        if option is None:
            return at + 1, UNKNOWN
        if equals:
            return at + 1, _value_effects(option, value, folder)
        return _with_value(option, words, at, folder)
    return _cluster(command, words, at, folder)


def _cluster(command: Command, words: Sequence[str], at: int, folder: Folder) -> tuple[int, Effects]:
    """The effects of short options in one word, the last perhaps with a value."""
    word, options = words[at], command.options
    if word[0] == "-" and word[1:].isdigit() and _NUMBER in options:
        return at + 1, 0
    effects = 0
    for place, letter in enumerate(word[1:], 2):
        option = options.get("-" + letter)
        if option is None:
            return at + 1, effects | (0 if "-*" in options else UNKNOWN)
        if option.takes:
            if value := word[place:].removeprefix("="):
                return at + 1, effects | _value_effects(option, value, folder)
            after, more = _with_value(option, words, at, folder)
            return after, effects | more
        effects |= option.effects
    return at + 1, effects


def _with_value(option: Option, words: Sequence[str], at: int, folder: Folder) -> tuple[int, Effects]:
    if not option.takes or option.attached:
        return at + 1, option.effects
    if at + 1 >= len(words):
        return at + 1, option.effects | _MISSING.get(option.value[:1], PROGRAM)
    if option.value == ";":
        return _after_command(words, at + 1), option.effects
    value = words[min(at + option.takes, len(words) - 1)]
    return at + 1 + option.takes, _value_effects(option, value, folder)


def _after_command(words: Sequence[str], at: int) -> int:
    """The place after the command of `find -exec`, which is judged by itself."""
    while at < len(words) and words[at] not in (";", "+"):
        at += 1
    return at + 1


def _value_effects(option: Option, value: str, folder: Folder) -> Effects:
    kind = option.value
    if not kind:
        return option.effects
    if kind == ">":
        more = project_paths.written(value, folder)
        return option.effects | (more | NAMED if more else 0)
    if kind == "@":
        return option.effects | project_paths.run(value, folder)
    return option.effects | checks.CHECKS[kind[1:]]((value,), (), folder, 0)


def _abbreviated(command: Command, name: str) -> Option | None:
    """The only option that begins so. None if there are several of different effects, or none: a program may know
    options that the grammar does not."""
    known = [option for other, option in command.options.items() if other.startswith(name) and other != _REST]
    if known and len(name) > 2:
        return known[0] if all(option == known[0] for option in known) else None
    negated = command.options.get("--" + name[5:]) if name.startswith("--no-") else None
    if negated is not None:
        return Option(effects=negated.effects)
    return command.options.get(_REST)


def _add(found: _Found, word: str, effects: Effects) -> None:
    if found is not None:
        found.append(WordEffects(word, effects))


# Every rule of a table asks once, and tables are read again whenever a rule changes.
@lru_cache(maxsize=8192)
def implied_effects(prefix: tuple[str, ...]) -> Effects:
    """The effects of a command that a rule with these first words covers, apart from those of the words themselves."""
    grammar = program(prefix[0])
    if grammar is None:
        return ~PROGRAM
    command, at, size = grammar, 1, len(prefix)
    while command.subcommands:
        while at < size and prefix[at][:1] == "-" and len(prefix[at]) > 1:
            at = option_effects(command, prefix, at, "")[0]
        if at >= size:
            alone = prefix[-1][:1] == "-" and len(command.path) > 1  # `git remote -v`: the form without a subcommand
            return (command.effects & ~NEVER_IMPLIED if alone else _group_effects(command)) | NAMED | MORE
        below = command.subcommand(prefix[at])
        if below is None:
            return ~NEVER_IMPLIED
        command = below
        at += 1
    operands = _named_operands(command, prefix, at)
    own = effects_of(grammar, prefix) & ~NEVER_IMPLIED & ~MORE
    more = 0 if command.each and len(operands) >= _needed_operands(command, operands) else MORE
    if operands:
        return command.effects | own & ~command.operand_effects | NAMED | more
    implied = command.effects | command.operand_effects | own
    return (implied & ~NEVER_IMPLIED if len(command.path) == 1 else implied) | NAMED | more


def _group_effects(command: Command) -> Effects:
    """The effects that a rule for a program or a group of subcommands covers: its column, or what its subcommands are
    for."""
    if len(command.path) == 1:
        return command.effects & ~NEVER_IMPLIED
    effects = command.effects
    for leaf in command.leaves():
        # A subcommand that the grammar knows only as one of many may be anything: `aws logs delete-log-group`.
        if "*" not in "".join(leaf.path) or not leaf.effects & ~FETCH:
            effects |= leaf.effects | leaf.operand_effects
    return effects & ~NEVER_IMPLIED


def _named_operands(command: Command, prefix: Sequence[str], at: int) -> list[str]:
    """The operands that a rule names, and the values of options that are operands too: it may cover no others."""
    named: list[str] = []
    while at < len(prefix):
        if prefix[at][:1] != "-":
            named.append(prefix[at])
            at += 1
            continue
        option = command.options.get(prefix[at].partition("=")[0])
        after, _ = option_effects(command, prefix, at, "")
        if option is not None and option.value in _OPERAND_VALUES:
            named.append(prefix[min(after, len(prefix)) - 1])
        at = after
    return named


def effect_text(effects: Effects) -> str:
    """Effects in words."""
    return " and ".join(words for effect, words in EFFECT_WORDS.items() if effects & effect)
