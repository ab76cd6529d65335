"""Finds the few rules that can cover a tool use, however many rules there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TypeVar, assert_never

from msgspec import Struct

from quarterdeck.core.model.rule import EFFECTS, Rule
from quarterdeck.core.model.tool_use import MAX_PATH_LENGTH, is_within
from quarterdeck.core.patterns.command_patterns import CommandPattern, WildcardCommand
from quarterdeck.core.patterns.globs import folded
from quarterdeck.core.patterns.match import MatchSubject
from quarterdeck.core.patterns.path_patterns import PathBase, PathPattern, has_wildcard
from quarterdeck.core.patterns.pattern import (
    DomainPattern,
    FieldPattern,
    McpPattern,
    NamePattern,
    Pattern,
    WholeToolPattern,
)
from quarterdeck.core.patterns.rule_words import BASH, FETCH
from quarterdeck.core.programs.grammar import Effects
from quarterdeck.core.programs.operands.word_checks import ADDRESS_BEGINNINGS, origins

Key = str | tuple[str, str, str]
K = TypeVar("K", Key, tuple[str, ...])


class IndexedRule(Struct, frozen=True):
    """A rule with its parsed pattern, its rank among rules of the same effect, and its index keys."""

    rule: Rule
    pattern: Pattern
    rank: tuple[int, int, str]
    keys: tuple[Key, ...]
    open_words: int = 0
    """The number of words of a command with an open end; else 0."""
    implied: Effects = 0
    """The effects that such a rule covers."""


entry_rank = attrgetter("rank")


def entry_order(entry: IndexedRule) -> tuple[int, tuple[int, int, str]]:
    """Sort key: the stronger effect first, then the rank."""
    return EFFECTS.index(entry.rule.effect), entry.rank


class RuleIndex:
    """Rules of one effect in order of rank, indexed by keys that every tool use they cover shares."""

    def __init__(
        self,
        entries: tuple[IndexedRule, ...],
        by_key: dict[Key, list[IndexedRule]],
        words: dict[tuple[str, ...], list[IndexedRule]],
    ) -> None:
        self.entries = entries
        self._by_key = by_key
        self._words = words
        self._starts = _starts(words)
        self.whole_shell = by_key.get(BASH, [])
        self.keys = by_key.keys()
        self.has_lines = any(isinstance(key, str) and key[:1] == "=" for key in self.keys)
        self.empty = not by_key

    @classmethod
    def of(cls, entries: tuple[IndexedRule, ...]) -> RuleIndex:
        by_key: dict[Key, list[IndexedRule]] = {}
        words: dict[tuple[str, ...], list[IndexedRule]] = {}
        for entry in entries:
            for key in entry.keys:
                by_key.setdefault(key, []).append(entry)
            if command_words := _words_of(entry):
                words.setdefault(command_words, []).append(entry)
        return cls(entries, by_key, words)

    def updated(self, entries: tuple[IndexedRule, ...]) -> RuleIndex:
        """Return an index of these rules. Cheaper than `of` if few of them changed."""
        if entries == self.entries:
            return self
        before, after = set(map(id, self.entries)), set(map(id, entries))
        by_key, words = self._by_key.copy(), self._words.copy()
        for entry in (entry for entry in self.entries if id(entry) not in after):
            for key in entry.keys:
                _drop(by_key, key, entry)
            if command_words := _words_of(entry):
                _drop(words, command_words, entry)
        for entry in (entry for entry in entries if id(entry) not in before):
            for key in entry.keys:
                by_key[key] = sorted((*by_key.get(key, ()), entry), key=entry_rank)
            if command_words := _words_of(entry):
                words[command_words] = sorted((*words.get(command_words, ()), entry), key=entry_rank)
        return RuleIndex(entries, by_key, words)

    def get(self, key: Key) -> list[IndexedRule] | tuple[()]:
        return self._by_key.get(key, ())

    def rules_for_words(self, words: tuple[str, ...]) -> list[IndexedRule]:
        """The rules for commands that begin with the same words. Do not modify the list: it may be the index's own."""
        start = self._starts.get(words[0]) if words else None
        if start is None:
            return []
        entries, sizes = start
        for size in sizes:
            if longer := self._words.get(words[:size]):
                entries = entries + longer if entries else longer
            elif size <= len(words) and words[size - 1][:4] in ADDRESS_BEGINNINGS:
                for origin in origins(words[size - 1]):
                    entries = entries + self._words.get((*words[: size - 1], origin), [])
        return entries

    def rules_for_keys(self, keys: Iterable[Key]) -> list[IndexedRule]:
        """The rules under any of the keys, in order of rank, each once."""
        by_key = self._by_key
        lists = [by_key[key] for key in keys if key in by_key]
        if len(lists) < 2:
            return lists[0] if lists else []
        return sorted({entry.rule.rule_id: entry for entries in lists for entry in entries}.values(), key=entry_rank)


def _words_of(entry: IndexedRule) -> tuple[str, ...]:
    form = entry.pattern.form
    return form.words if isinstance(form, CommandPattern | WildcardCommand) else ()


def _drop(table: dict[K, list[IndexedRule]], key: K, entry: IndexedRule) -> None:
    """Drop an entry by replacing its list, which an earlier index may share."""
    if left := [other for other in table.get(key, ()) if other is not entry]:
        table[key] = left
    else:
        table.pop(key, None)


def _starts(
    by_words: Mapping[tuple[str, ...], list[IndexedRule]],
) -> dict[str, tuple[list[IndexedRule], tuple[int, ...]]]:
    """For each first word, the rules that name only it, and the word counts of the other patterns."""
    sizes: dict[str, set[int]] = defaultdict(set)
    for words in by_words:
        sizes[words[0]].add(len(words))
    return {word: (by_words.get((word,), []), tuple(sorted(counts - {1}))) for word, counts in sizes.items()}


def command_key(word: str) -> str:
    """The key of rules for a program, by its name without its folder."""
    return "$" + (word.rpartition("/")[2] if "/" in word else word).casefold()


ANY_COMMAND = "$*"
"""The key of rules for commands whose name is a wildcard."""

EVERY_COMMAND = "$"
"""The key of all rules for commands."""


def line_key(line: str) -> str:
    """The key of rules for one whole line, however it is spaced."""
    if line.isprintable() and "  " not in line:  # the only white space is single blanks, so splitting is not needed
        return "=" + line.strip()
    return "=" + " ".join(line.split())


def rule_keys(pattern: Pattern, project: str | None) -> Iterator[Key]:
    """Yield the keys of a rule. Every tool use it covers has one of them."""
    form = pattern.form
    match form:
        case McpPattern():
            yield f"{form.name}__"
        case WholeToolPattern() | NamePattern() | FieldPattern():
            yield from pattern.tools
            yield from (f"{tool}__" for tool in pattern.tools if tool.startswith("mcp__"))
        case CommandPattern():
            yield EVERY_COMMAND
            if form.words:
                yield command_key(form.words[0])
            if not form.open_end:
                yield line_key(form.line)
        case WildcardCommand():
            yield EVERY_COMMAND
            yield command_key(form.words[0]) if form.words else ANY_COMMAND
        case DomainPattern():
            yield f"@.{form.host}" if form.below else f"@{form.host}"
            yield "@"
        case PathPattern():
            for tool in pattern.tools:
                yield (tool, "", "")
                yield (tool, *_path_key(form, project))
        case _:
            assert_never(form)


def _path_key(files: PathPattern, project: str | None) -> tuple[str, str]:
    if files.base is not PathBase.PROJECT:
        return files.base, files.prefix
    if project is None:
        return PathBase.CWD, files.prefix
    return PathBase.ROOT, "/".join(part for part in (folded(project).strip("/"), files.prefix) if part)


def subject_keys(subject: MatchSubject) -> list[Key]:
    """Every key under which a rule for this use can be indexed; for a shell command, only those of its tool."""
    tool = subject.tool_use.tool_name
    keys: list[Key] = [tool]
    if tool.startswith("mcp__"):
        keys += _servers(tool)
    if tool == FETCH:
        keys += _hosts(subject.host)
    for path in subject.paths:
        keys += _path_keys(tool, path, subject)
    return keys


def _servers(tool: str) -> Iterator[str]:
    """Yield the possible servers in the name of a tool. Server names may hold `__` themselves."""
    end = tool.find("__")
    while end > 0:
        yield tool[: end + 2]
        end = tool.find("__", end + 1)


def _hosts(host: str | None) -> Iterator[str]:
    if host is None:
        yield "@"
        return
    yield f"@{host}"
    _, dot, rest = host.partition(".")
    while dot:
        yield f"@.{rest}"
        _, dot, rest = rest.partition(".")


def _path_keys(tool: str, path: str, subject: MatchSubject) -> Iterator[Key]:
    """Yield the keys of the path and of each folder above it, seen from the root, from home and from the working
    folder."""
    if len(path) > MAX_PATH_LENGTH:
        yield (tool, "", "")
        return
    if has_wildcard(path):
        yield (tool, "", "")
    for base, folder in ((PathBase.ROOT, "/"), (PathBase.HOME, subject.home), (PathBase.CWD, subject.cwd)):
        if not is_within(path, folder):
            continue
        known = ""
        yield (tool, base, known)
        for part in folded(path[len(folder) :]).split("/"):
            if part:
                known = f"{known}/{part}" if known else part
                yield (tool, base, known)
