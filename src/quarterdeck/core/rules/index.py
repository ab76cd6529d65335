"""Finds the few rules that can be about a use of a tool, however many there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TypeVar, assert_never

from msgspec import Struct

from quarterdeck.core.model.rule import EFFECTS, Rule
from quarterdeck.core.model.tool_use import LONGEST_PATH, is_within
from quarterdeck.core.patterns.commands import Command, WildCommand
from quarterdeck.core.patterns.globs import folded
from quarterdeck.core.patterns.match import Look
from quarterdeck.core.patterns.paths import Base, Files, has_wildcard
from quarterdeck.core.patterns.pattern import Domain, Fields, Named, Pattern, Server, Whole

Key = str | tuple[str, str, str]
K = TypeVar("K", Key, tuple[str, ...])


class Bound(Struct, frozen=True):
    """A rule, its pattern as read, its rank among rules of its effect, and the keys it is found by."""

    rule: Rule
    pattern: Pattern
    rank: tuple[int, int, str]
    keys: tuple[Key, ...]
    open_words: int = 0
    """Of a command with an open end, how many words it has."""


rank_of_bound = attrgetter("rank")


def order_of_bound(one: Bound) -> tuple[int, tuple[int, int, str]]:
    """The stronger effect first, then the rank."""
    return EFFECTS.index(one.rule.effect), one.rank


class Index:
    """Rules of one effect, given by their rank, by what a use must have in common with them."""

    def __init__(
        self, bound: tuple[Bound, ...], found: dict[Key, list[Bound]], words: dict[tuple[str, ...], list[Bound]]
    ) -> None:
        self.bound = bound
        self._found = found
        self._words = words
        self._starts = _starts(words)
        self.whole_shell = found.get("Bash", [])
        self.keys = found.keys()
        self.has_lines = any(isinstance(key, str) and key[:1] == "=" for key in self.keys)
        self.empty = not found

    @classmethod
    def of(cls, bound: tuple[Bound, ...]) -> Index:
        found: dict[Key, list[Bound]] = {}
        words: dict[tuple[str, ...], list[Bound]] = {}
        for one in bound:
            for key in one.keys:
                found.setdefault(key, []).append(one)
            if said := _words_of(one):
                words.setdefault(said, []).append(one)
        return cls(bound, found, words)

    def changed(self, bound: tuple[Bound, ...]) -> Index:
        """The index of these rules, where few differ from those it has."""
        if bound == self.bound:
            return self
        before, after = set(map(id, self.bound)), set(map(id, bound))
        found, words = self._found.copy(), self._words.copy()
        for one in (one for one in self.bound if id(one) not in after):
            for key in one.keys:
                _drop(found, key, one)
            if said := _words_of(one):
                _drop(words, said, one)
        for one in (one for one in bound if id(one) not in before):
            for key in one.keys:
                found[key] = sorted((*found.get(key, ()), one), key=rank_of_bound)
            if said := _words_of(one):
                words[said] = sorted((*words.get(said, ()), one), key=rank_of_bound)
        return Index(bound, found, words)

    def get(self, key: Key) -> list[Bound] | tuple[()]:
        return self._found.get(key, ())

    def beginning(self, words: tuple[str, ...]) -> list[Bound]:
        """The rules about commands whose words these begin with; not to be changed."""
        start = self._starts.get(words[0]) if words else None
        if start is None:
            return []
        near, sizes = start
        for size in sizes:
            if found := self._words.get(words[:size]):
                near = near + found if near else found
        return near

    def near(self, keys: Iterable[Key]) -> list[Bound]:
        """The rules under any of the keys, by their rank, each once."""
        known = self._found
        lists = [known[key] for key in keys if key in known]
        if len(lists) < 2:
            return lists[0] if lists else []
        return sorted({one.rule.rule_id: one for found in lists for one in found}.values(), key=rank_of_bound)


def _words_of(one: Bound) -> tuple[str, ...]:
    form = one.pattern.form
    return form.words if isinstance(form, Command | WildCommand) else ()


def _drop(table: dict[K, list[Bound]], key: K, one: Bound) -> None:
    """Without changing the list, which an earlier index may have too."""
    if left := [other for other in table.get(key, ()) if other is not one]:
        table[key] = left
    else:
        table.pop(key, None)


def _starts(known: Mapping[tuple[str, ...], list[Bound]]) -> dict[str, tuple[list[Bound], tuple[int, ...]]]:
    """For each first word the rules that name no more, and how many words the other patterns have."""
    sizes: dict[str, set[int]] = defaultdict(set)
    for words in known:
        sizes[words[0]].add(len(words))
    return {word: (known.get((word,), []), tuple(sorted(found - {1}))) for word, found in sizes.items()}


def command_key(word: str) -> str:
    """The key of rules about a program, by its name without its folder."""
    return "$" + (word.rpartition("/")[2] if "/" in word else word).casefold()


ANY_COMMAND = "$*"
"""The key of rules about commands whose name is a wildcard."""

EVERY_COMMAND = "$"
"""The key of all rules about commands."""


def line_key(line: str) -> str:
    """The key of rules about one whole line, however it is spaced."""
    if line.isprintable() and "  " not in line:  # then a blank is the only space in it
        return "=" + line.strip()
    return "=" + " ".join(line.split())


def keys_of(pattern: Pattern, project: str | None) -> Iterator[Key]:
    """The keys under which a rule stands; a use that it is about has one of them."""
    form = pattern.form
    match form:
        case Server():
            yield f"{form.name}__"
        case Whole() | Named() | Fields():
            yield from pattern.tools
            yield from (f"{tool}__" for tool in pattern.tools if tool.startswith("mcp__"))
        case Command():
            yield EVERY_COMMAND
            if form.words:
                yield command_key(form.words[0])
            if not form.open_end:
                yield line_key(form.line)
        case WildCommand():
            yield EVERY_COMMAND
            yield command_key(form.words[0]) if form.words else ANY_COMMAND
        case Domain():
            yield f"@.{form.host}" if form.below else f"@{form.host}"
            yield "@"
        case Files():
            for tool in pattern.tools:
                yield (tool, "", "")
                yield (tool, *_place(form, project))
        case _:
            assert_never(form)


def _place(files: Files, project: str | None) -> tuple[str, str]:
    if files.base is not Base.PROJECT:
        return files.base, files.prefix
    if project is None:
        return Base.CWD, files.prefix
    return Base.ROOT, "/".join(part for part in (folded(project).strip("/"), files.prefix) if part)


def keys_for(look: Look) -> list[Key]:
    """Every key under which a rule about this use can stand; for a shell command those of its tool."""
    tool = look.subject.tool_name
    keys: list[Key] = [tool]
    if tool.startswith("mcp__"):
        keys += _servers(tool)
    if tool == "WebFetch":
        keys += _hosts(look.host)
    for path in look.seen:
        keys += _places(tool, path, look)
    return keys


def _servers(tool: str) -> Iterator[str]:
    """What may be the server in the name, for names may hold `__` themselves."""
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


def _places(tool: str, path: str, look: Look) -> Iterator[Key]:
    """The path and each folder above it, seen from the root, from the home and from where the session is."""
    if len(path) > LONGEST_PATH:
        yield (tool, "", "")
        return
    if has_wildcard(path):
        yield (tool, "", "")
    for base, folder in ((Base.ROOT, "/"), (Base.HOME, look.home), (Base.CWD, look.cwd)):
        if not is_within(path, folder):
            continue
        known = ""
        yield (tool, base, known)
        for part in folded(path[len(folder) :]).split("/"):
            if part:
                known = f"{known}/{part}" if known else part
                yield (tool, base, known)
