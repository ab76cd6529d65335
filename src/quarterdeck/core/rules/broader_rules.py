"""Finds, among many rules, the few that may cover everything another rule covers, wherever that one applies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from heapq import merge
from operator import itemgetter

from quarterdeck.core.model.rule import Rule
from quarterdeck.core.patterns.command_patterns import CommandPattern
from quarterdeck.core.patterns.path_patterns import PathPattern
from quarterdeck.core.patterns.pattern import DomainPattern, McpPattern, Pattern, WholeToolPattern
from quarterdeck.core.rules.index import IndexedRule

_position = itemgetter(0)


class BroaderRules:
    """Rules in order, by keys that every narrower rule shares with them. Comparing all pairs would be quadratic."""

    def __init__(self, rules: Sequence[IndexedRule]) -> None:
        self._known: dict[tuple[Hashable, Hashable], list[tuple[int, IndexedRule]]] = defaultdict(list)
        self._sizes: set[int] = set()
        for position, entry in enumerate(rules):
            if isinstance(entry.pattern.form, CommandPattern):
                self._sizes.add(len(entry.pattern.form.words))
            scopes = [_scope_key(entry.rule), *([_twin_key(entry.rule)] if entry.rule.expires_at is not None else ())]
            for pattern_key in set(_pattern_keys(entry.pattern)):
                for scope in scopes:
                    self._known[pattern_key, scope].append((position, entry))

    def candidates(self, entry: IndexedRule) -> Iterator[IndexedRule]:
        """Yield the rules that may cover this one, itself included, in order."""
        scopes = [*_wider_scopes(entry.rule), _twin_key(entry.rule)]
        keys = {(pattern_key, scope) for pattern_key in self._wider_keys(entry.pattern) for scope in scopes}
        last = -1
        for position, other in merge(*(self._known[key] for key in keys if key in self._known), key=_position):
            if position != last:
                yield other
            last = position

    def _wider_keys(self, pattern: Pattern) -> Iterator[Hashable]:
        """Yield every key of patterns that may include this one."""
        form = pattern.form
        yield "text", pattern.text
        yield "whole", pattern.tools[0]
        match form:
            case CommandPattern():
                yield from (("words", form.words[:size]) for size in self._sizes if 0 < size <= len(form.words))
            case PathPattern():
                yield from (("files", form.base, above) for above in _ancestors(form.prefix))
            case McpPattern() | WholeToolPattern():
                yield from (("server", name) for name in _servers(pattern.tools[0]))
            case DomainPattern():
                yield from (("host", above) for above in _hosts(form.host))


def _pattern_keys(pattern: Pattern) -> Iterator[Hashable]:
    """Yield the keys under which narrower patterns find this one."""
    form = pattern.form
    yield "text", pattern.text
    match form:
        case WholeToolPattern():
            yield from (("whole", tool) for tool in pattern.tools)
        case CommandPattern() if form.open_end:
            yield "words", form.words
        case PathPattern():
            yield "files", form.base, form.prefix
        case McpPattern():
            yield "server", form.name
        case DomainPattern():
            yield "host", form.host


def _scope_key(rule: Rule) -> Hashable:
    if rule.scope == "project":
        return "project", (rule.scope_path or "").rstrip("/")
    return ("session", rule.scope_id) if rule.scope == "session" else rule.scope


def _wider_scopes(rule: Rule) -> Iterator[Hashable]:
    """Yield every scope that may apply wherever the rule does."""
    yield from ("user", "hub")
    if rule.scope == "project" and rule.scope_path:
        yield from (("project", folder) for folder in _ancestors(rule.scope_path))
    elif rule.scope == "session":
        yield "session", rule.scope_id


def _twin_key(rule: Rule) -> Hashable:
    """The key that an expiring rule shares with a rule it may duplicate."""
    return "like", rule.effect, rule.pattern, rule.scope


def _ancestors(path: str) -> Iterator[str]:
    """Yield the path, each folder above it, and the root as an empty text."""
    while path:
        yield path.rstrip("/")
        path = path.rpartition("/")[0]
    yield ""


def _servers(tool: str) -> Iterator[str]:
    """Yield the possible servers in the name of a tool. Server names may hold `__` themselves."""
    name = f"{tool}__"
    end = name.find("__")
    while end >= 0:
        yield name[:end]
        end = name.find("__", end + 1)


def _hosts(host: str) -> Iterator[str]:
    while host:
        host = host.partition(".")[2]
        yield host
