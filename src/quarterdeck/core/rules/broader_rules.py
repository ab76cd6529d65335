"""Finds, of many rules, the few that may hold wherever another does and be about all that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from heapq import merge
from operator import itemgetter

from quarterdeck.core.model.rule import Rule
from quarterdeck.core.patterns.commands import Command
from quarterdeck.core.patterns.paths import Files
from quarterdeck.core.patterns.pattern import Domain, Pattern, Server, Whole
from quarterdeck.core.rules.index import Bound

_place = itemgetter(0)


class Broader:
    """Rules in their order, by what a narrower one must have in common with them."""

    def __init__(self, rules: Sequence[Bound]) -> None:
        self._known: dict[tuple[Hashable, Hashable], list[tuple[int, Bound]]] = defaultdict(list)
        self._sizes: set[int] = set()
        for place, one in enumerate(rules):
            if isinstance(one.pattern.form, Command):
                self._sizes.add(len(one.pattern.form.words))
            reached = [_reach(one.rule), *([_like(one.rule)] if one.rule.expires_at is not None else ())]
            for about in set(_about(one.pattern)):
                for where in reached:
                    self._known[about, where].append((place, one))

    def around(self, one: Bound) -> Iterator[Bound]:
        """The rules that may cover this one, itself among them, in their order."""
        places = [*_within(one.rule), _like(one.rule)]
        keys = {(about, where) for about in self._inside(one.pattern) for where in places}
        last = -1
        for place, other in merge(*(self._known[key] for key in keys if key in self._known), key=_place):
            if place != last:
                yield other
            last = place

    def _inside(self, pattern: Pattern) -> Iterator[Hashable]:
        """Every key of a pattern that may include this one."""
        form = pattern.form
        yield "text", pattern.text
        yield "whole", pattern.tools[0]
        match form:
            case Command():
                yield from (("words", form.words[:size]) for size in self._sizes if 0 < size <= len(form.words))
            case Files():
                yield from (("files", form.base, above) for above in _above(form.prefix))
            case Server() | Whole():
                yield from (("server", name) for name in _servers(pattern.tools[0]))
            case Domain():
                yield from (("host", above) for above in _hosts(form.host))


def _about(pattern: Pattern) -> Iterator[Hashable]:
    """The keys under which a pattern is found by what it may include."""
    form = pattern.form
    yield "text", pattern.text
    match form:
        case Whole():
            yield from (("whole", tool) for tool in pattern.tools)
        case Command() if form.open_end:
            yield "words", form.words
        case Files():
            yield "files", form.base, form.prefix
        case Server():
            yield "server", form.name
        case Domain():
            yield "host", form.host


def _reach(rule: Rule) -> Hashable:
    if rule.scope == "project":
        return "project", (rule.scope_path or "").rstrip("/")
    return ("session", rule.scope_id) if rule.scope == "session" else rule.scope


def _within(rule: Rule) -> Iterator[Hashable]:
    """Every reach that may hold wherever the rule does."""
    yield from ("user", "hub")
    if rule.scope == "project" and rule.scope_path:
        yield from (("project", folder) for folder in _above(rule.scope_path))
    elif rule.scope == "session":
        yield "session", rule.scope_id


def _like(rule: Rule) -> Hashable:
    """What a rule that ends has in common with one that it is said to be the same as."""
    return "like", rule.effect, rule.pattern, rule.scope


def _above(path: str) -> Iterator[str]:
    """The path, each folder above it, and the root as nothing."""
    while path:
        yield path.rstrip("/")
        path = path.rpartition("/")[0]
    yield ""


def _servers(tool: str) -> Iterator[str]:
    """What may be the server in the name of a tool, which may hold `__` itself."""
    name = f"{tool}__"
    end = name.find("__")
    while end >= 0:
        yield name[:end]
        end = name.find("__", end + 1)


def _hosts(host: str) -> Iterator[str]:
    while host:
        host = host.partition(".")[2]
        yield host
