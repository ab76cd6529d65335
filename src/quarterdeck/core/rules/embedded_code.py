"""Code and commands hidden in arguments (`python -c`, `find -exec`), and files given to unknown programs. If they
mention what a deny or ask rule covers, no allow rule applies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from quarterdeck.core.patterns.command_paths import MAX_WORDS, READERS, file_use, working_folders
from quarterdeck.core.patterns.command_patterns import CommandPattern, WildcardCommand
from quarterdeck.core.patterns.glob_overlap import MAX_WILDCARD_PATHS
from quarterdeck.core.patterns.globs import folded
from quarterdeck.core.patterns.match import MatchSubject, forbids, match_subject
from quarterdeck.core.patterns.path_patterns import PathPattern, has_wildcard
from quarterdeck.core.patterns.pattern import Pattern
from quarterdeck.core.patterns.rule_words import EDIT, READ
from quarterdeck.core.programs.command_effects import interprets
from quarterdeck.core.programs.grammar import word_set
from quarterdeck.core.rules.command_rules import CommandSubject
from quarterdeck.core.rules.index import ANY_COMMAND, Key, command_key, subject_keys
from quarterdeck.core.shell.script import Call

MAX_FILES = 1000
"""With more words that may be files, every rule over files may apply."""

MAX_HINTS = 64

WORD = re.compile(r"[\w.~/*?+-]+")
_PIECES = re.compile(r"[=:,@]")
_NAME_ONLY_PROGRAMS = word_set(
    "[ basename cd chgrp chmod chown df dirname du echo false find ls mkdir printf pushd pwd readlink realpath rm "
    "rmdir stat test touch true type unlink which"
)
"""Programs that never show the content of the files in their arguments."""

_NONE: frozenset[str] = frozenset()
_LITERAL = re.compile(r"[^*?\\\[\]{}]+")
_GIT_NAMES = word_set("check-ignore ls-files rm status update-index")


class EmbeddedCode(Struct, frozen=True, kw_only=True):
    """The embedded texts, the names in them, and the files they may mean. `too_long`: there are more than are
    checked."""

    texts: tuple[str, ...]
    names: frozenset[str]
    files: tuple[MatchSubject, ...]
    too_long: bool


NO_CODE = EmbeddedCode(texts=(), names=_NONE, files=(), too_long=False)


def file_hints(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    """For each path pattern, a text that occurs in every path it matches. Empty if any pattern has none, or if there
    are more than `MAX_HINTS`."""
    hints = {max(_LITERAL.findall(part), key=len, default="") for part in _longest_parts(patterns)}
    return tuple(sorted(hints)) if "" not in hints and len(hints) <= MAX_HINTS else ()


def _longest_parts(patterns: Iterable[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern.form, PathPattern):
            yield folded(max(pattern.form.parts, key=lambda part: len(part.strip("*")), default=""))


def _may_name_files(command: CommandSubject, hints: tuple[str, ...]) -> bool:
    """True if a word of the line may be a file that a rule covers: a cheap test before every word is resolved."""
    if not hints or has_wildcard(command.line):
        return True
    tool_use = command.subject.tool_use
    words = [" ".join(call.words) for call in command.script.calls]
    text = folded("\n".join((*words, command.line, tool_use.cwd, tool_use.home)))
    return any(hint in text for hint in hints)


def embedded_code(command: CommandSubject, tools: frozenset[str], hints: tuple[str, ...]) -> EmbeddedCode:
    """The code embedded in a line. `tools`: those of Read and Edit for which a rule denies files; only files for these
    are looked up."""
    if not command.indirect and READ not in tools and not (tools and _is_long(command)):
        return NO_CODE
    calls, tool_use = command.script.calls, command.subject.tool_use
    texts = tuple(dict.fromkeys(text for call in command.indirect for text in embedded_texts(call, command.line)))
    words = sorted({word for text in texts for word in WORD.findall(text)})
    tools = tools if tools and _may_name_files(command, hints) else _NONE
    files = dict.fromkeys((tool, word) for tool in (EDIT, READ) if tool in tools for word in words)
    if READ in tools:
        files.update(dict.fromkeys((READ, piece) for call in calls for piece in _operands(call)))
    too_long = bool(tools) and (
        len(files) > MAX_FILES
        or any(len(call.words) > MAX_WORDS for call in calls)
        or sum(has_wildcard(word) for word in (*(path for _, path in files), *_words(calls))) > MAX_WILDCARD_PATHS
    )
    if not (texts or files or too_long):
        return NO_CODE
    located_files = (
        [] if too_long else [(folder, *file) for folder in working_folders(tool_use, command.script) for file in files]
    )
    return EmbeddedCode(
        texts=texts,
        names=frozenset(word.rpartition("/")[2].casefold() for word in words),
        files=tuple(match_subject(file_use(tool_use, tool, path, folder)) for folder, tool, path in located_files),
        too_long=too_long,
    )


def _is_long(command: CommandSubject) -> bool:
    """True if a call may have more words, or more wildcards, than are checked. Counting characters rules it out for
    most lines."""
    if len(command.line) > MAX_WORDS or command.script.doubts:
        return True
    count = command.line.count
    return (count("*") + count("?") + count("[") + count("{")) * len(command.script.calls) > MAX_WILDCARD_PATHS


def _words(calls: Iterable[Call]) -> Iterator[str]:
    return (word for call in calls for word in call.words[1:])


def embedded_texts(call: Call, line: str) -> tuple[str, ...]:
    """The texts that an indirect call may run. An interpreter, or a call with arguments not visible here, may get them
    from the rest of the line."""
    return (line,) if call.unseen or interprets(call.words) else call.words[1:]


def _operands(call: Call) -> Iterator[str]:
    """Yield the words that may be files, for a program that may do anything with them."""
    name = call.words[0].rpartition("/")[2] if call.words else ""
    if name in READERS or name in _NAME_ONLY_PROGRAMS or (name == "git" and not _GIT_NAMES.isdisjoint(call.words[1:2])):
        return
    for word in call.words[1:]:
        yield word
        yield from filter(None, _PIECES.split(word)[1:])


def embedded_keys(code: EmbeddedCode) -> list[Key]:
    """Every key under which a rule that covers the code can be indexed."""
    keys: list[Key] = [ANY_COMMAND, *map(command_key, code.names)] if code.texts else []
    if code.too_long:
        keys += [(READ, "", ""), (EDIT, "", "")]
    for subject in code.files:
        keys += [key for key in subject_keys(subject) if isinstance(key, tuple)]
    return keys


def may_do(pattern: Pattern, code: EmbeddedCode, project: str | None) -> bool:
    """True if the code mentions what the pattern covers."""
    form = pattern.form
    match form:
        case CommandPattern():
            return _names_occur(form.words, code)
        case WildcardCommand():
            return _names_occur(form.words, code) or any(form.matches(text) for text in code.texts)
        case PathPattern():
            return code.too_long or any(forbids(pattern, subject, project) for subject in code.files)
        case _:
            return False


def _names_occur(words: tuple[str, ...], code: EmbeddedCode) -> bool:
    """True if all these words occur. Options are left out: another language writes them in its own way."""
    names = [word.rpartition("/")[2].casefold() for word in words if word[:1] != "-"]
    return bool(names) and code.names.issuperset(names)
