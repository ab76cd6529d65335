"""What a shell line tells programs that nobody reads here: code in another language, a command for an option that runs
one, files given to a program nobody knows. Where it mentions what a deny or ask rule is about, no rule allows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quarterdeck.core.patterns.command_paths import MOST, READING, as_file, places_of
from quarterdeck.core.patterns.commands import Command, WildCommand
from quarterdeck.core.patterns.glob_overlap import MOST_WILD
from quarterdeck.core.patterns.globs import folded
from quarterdeck.core.patterns.match import Look, forbids, look_at
from quarterdeck.core.patterns.paths import Files, has_wildcard
from quarterdeck.core.patterns.pattern import Pattern
from quarterdeck.core.rules.command_rules import CommandLook
from quarterdeck.core.rules.index import ANY_COMMAND, Key, command_key, keys_for
from quarterdeck.core.shell.options import interprets
from quarterdeck.core.shell.programs import named
from quarterdeck.core.shell.script import Call

MOST_FILES = 1000
"""With more words that may be files, every rule over files may be meant."""

MOST_HINTS = 64

WORD = re.compile(r"[\w.~/*?+-]+")
_PIECES = re.compile(r"[=:,@]")
_ONLY_NAMES = named(
    "[ basename cd chgrp chmod chown df dirname du echo false find ls mkdir printf pushd pwd readlink realpath rm "
    "rmdir stat test touch true type unlink which"
)
"""Programs that show nothing of what is in the files they are given."""

_NONE: frozenset[str] = frozenset()
_LITERAL = re.compile(r"[^*?\\\[\]{}]+")
_GIT_NAMES = named("check-ignore ls-files rm status update-index")


class Told(Struct, frozen=True, kw_only=True):
    """The texts, the names in them, and the files they may mean; `too_long` when there are more than are looked at."""

    texts: tuple[str, ...]
    names: frozenset[str]
    files: tuple[Look, ...]
    too_long: bool


NOTHING = Told(texts=(), names=_NONE, files=(), too_long=False)


def hints_of(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    """For patterns over files a text each that every path holds which one is about; none when there is no such text."""
    hints = {max(_LITERAL.findall(part), key=len, default="") for part in _telling_parts(patterns)}
    return tuple(sorted(hints)) if "" not in hints and len(hints) <= MOST_HINTS else ()


def _telling_parts(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern.form, Files):
            yield folded(max(pattern.form.parts, key=lambda part: len(part.strip("*")), default=""))


def _may_name_files(seen: CommandLook, hints: tuple[str, ...]) -> bool:
    """Whether a word of the line may be a file that a rule is about: a quick look before each is followed."""
    if not hints or has_wildcard(seen.line):
        return True
    subject = seen.look.subject
    words = [" ".join(call.words) for call in seen.script.calls]
    text = folded("\n".join((*words, seen.line, subject.cwd, subject.home)))
    return any(hint in text for hint in hints)


def what_is_told(seen: CommandLook, tools: frozenset[str], hints: tuple[str, ...]) -> Told:
    """All that is told, with the files as far as these tools, Read and Edit, may be forbidden to use them."""
    if not seen.telling and "Read" not in tools and not (tools and _is_long(seen)):
        return NOTHING
    calls, subject = seen.script.calls, seen.look.subject
    texts = tuple(dict.fromkeys(text for call in seen.telling for text in texts_for(call, seen.line)))
    words = sorted({word for text in texts for word in WORD.findall(text)})
    tools = tools if tools and _may_name_files(seen, hints) else _NONE
    files = dict.fromkeys((tool, word) for tool in ("Edit", "Read") if tool in tools for word in words)
    if "Read" in tools:
        files.update(dict.fromkeys(("Read", piece) for call in calls for piece in _operands(call)))
    too_long = bool(tools) and (
        len(files) > MOST_FILES
        or any(len(call.words) > MOST for call in calls)
        or sum(has_wildcard(word) for word in (*(path for _, path in files), *_words(calls))) > MOST_WILD
    )
    if not (texts or files or too_long):
        return NOTHING
    wanted = [] if too_long else [(place, *file) for place in places_of(subject, seen.script) for file in files]
    return Told(
        texts=texts,
        names=frozenset(word.rpartition("/")[2].casefold() for word in words),
        files=tuple(look_at(as_file(subject, tool, path, place)) for place, tool, path in wanted),
        too_long=too_long,
    )


def _is_long(seen: CommandLook) -> bool:
    """Whether a call may have more words, or more of them wildcards, than are looked at. A line that was read shows at
    a glance that it has not."""
    if len(seen.line) > MOST or seen.script.doubts:
        return True
    count = seen.line.count
    return (count("*") + count("?") + count("[") + count("{")) * len(seen.script.calls) > MOST_WILD


def _words(calls: Iterable[Call]) -> Iterator[str]:
    return (word for call in calls for word in call.words[1:])


def texts_for(call: Call, line: str) -> tuple[str, ...]:
    """What the program of a telling call is told to run. An interpreter may be fed by the rest of the line, and so may
    who gets arguments that nobody sees."""
    return (line,) if call.unseen or interprets(call.words) else call.words[1:]


def _operands(call: Call) -> Iterator[str]:
    """What may be files among the words of a program that may do anything with them."""
    name = call.words[0].rpartition("/")[2] if call.words else ""
    if name in READING or name in _ONLY_NAMES or (name == "git" and not _GIT_NAMES.isdisjoint(call.words[1:2])):
        return
    for word in call.words[1:]:
        yield word
        yield from filter(None, _PIECES.split(word)[1:])


def told_keys(told: Told) -> list[Key]:
    """Every key under which a rule can stand that is about what is told."""
    keys: list[Key] = [ANY_COMMAND, *map(command_key, told.names)] if told.texts else []
    if told.too_long:
        keys += [("Read", "", ""), ("Edit", "", "")]
    for look in told.files:
        keys += [key for key in keys_for(look) if isinstance(key, tuple)]
    return keys


def is_told(pattern: Pattern, told: Told, project: str | None) -> bool:
    """Whether what is told mentions what the pattern is about."""
    form = pattern.form
    match form:
        case Command():
            return _are_told(form.words, told)
        case WildCommand():
            return _are_told(form.words, told) or any(form.matches(text) for text in told.texts)
        case Files():
            return told.too_long or any(forbids(pattern, look, project) for look in told.files)
        case _:
            return False


def _are_told(words: tuple[str, ...], told: Told) -> bool:
    """Whether all these words occur; how options are written in another language nobody knows."""
    names = [word.rpartition("/")[2].casefold() for word in words if word[:1] != "-"]
    return bool(names) and told.names.issuperset(names)
