"""Whether a pattern over files and a path with wildcards in it, as a shell or a search tool reads it, can mean the same
file. Braces, brackets and `**` are read broadly: what cannot be told may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from quarterdeck.core.patterns.globs import one_by_one

BRACES = re.compile(r"\{([^{}\s]*?(?:,|\.\.)[^{}\s]*+)\}")  # others are signs like any other
_OPENING = frozenset(("", "*", "?", "[", "{", "\\"))
_BRACKETS = re.compile(r"\[[^\]]*+\]")

MOST_WILD = 16
"""So many paths with wildcards in them are looked at in one use of a tool: each is compared with every pattern."""

MOST_PARTS = 256
MOST_SPELLINGS = 32


def paths_meet(pattern: Sequence[str], written: Sequence[str]) -> bool:
    """Whether a path made of the written parts can be one that the pattern matches, or below such a one. That `**` goes
    through all folders names none: what the pattern is about must be met by a part of its own."""
    if len(written) > MOST_PARTS:
        return True
    at = 0
    while at < min(len(pattern), len(written)) and pattern[at] == written[at] != "**":
        at += 1
    pattern, written = pattern[at:], written[at:]
    if pattern and written and "**" not in (pattern[0], written[0]) and not names_meet(pattern[0], written[0]):
        return False
    last = max((place for place, part in enumerate(pattern) if part != "**"), default=0)
    places = _skipped({0}, pattern)
    for part in written:
        if len(pattern) in places:
            return True
        stay = {place for place in places if pattern[place] == "**"}
        if part == "**":
            places = places | set(range(min(places, default=last), last + 1))
        else:
            places = stay | {place + 1 for place in places - stay if names_meet(pattern[place], part)}
        places = _skipped(places, pattern)
    return len(pattern) in places or (bool(pattern) and pattern[-1] == "**" and len(pattern) - 1 in places)


def _skipped(places: set[int], pattern: Sequence[str]) -> set[int]:
    """With each place also the one behind it, where `**` stands for nothing and more follows."""
    found = set(places)
    for place in sorted(places):
        while place < len(pattern) - 1 and pattern[place] == "**":
            place += 1
            found.add(place)
    return found


@lru_cache(maxsize=4096)
def names_meet(glob: str, written: str) -> bool:
    """Whether the glob and the written name, wildcards and all, have a name in common."""
    if glob[:1] != written[:1] and glob[:1] not in _OPENING and written[:1] not in _OPENING:
        return False
    return any(_meet(list(one_by_one(glob)), _signs(spelling)) for spelling in _spellings(written))


def _spellings(written: str) -> Iterator[str]:
    """The name with each choice in braces taken; a star for them where there are too many."""
    known = [written]
    for _ in range(MOST_SPELLINGS):
        found = [(text, BRACES.search(text)) for text in known]
        if not any(braces for _, braces in found):
            break
        known = [
            text if braces is None else text[: braces.start()] + choice + text[braces.end() :]
            for text, braces in found
            for choice in (_choices(braces[1]) if braces else [""])
        ][: MOST_SPELLINGS + 1]
    if len(known) > MOST_SPELLINGS:
        known = [BRACES.sub("*", written)]
    yield from known


def _choices(inside: str) -> list[str]:
    return inside.split(",") if "," in inside else ["*"]


def _signs(written: str) -> list[str | None]:
    """The signs of a name: None for any text, "" for any one sign. A bracket is any one sign."""
    return [{"*": None, "?": ""}.get(sign, sign) for sign in _BRACKETS.sub("?", written)]


def _meet(glob: Sequence[str | None], written: Sequence[str | None]) -> bool:
    """Whether two rows of signs can be the same name, in time linear in each."""
    row = _stars({0}, glob)
    for sign in written:
        if sign is None:
            row = set(range(min(row), len(glob) + 1)) if row else row
        else:
            stay = {place for place in row if place < len(glob) and glob[place] is None}
            step = {place + 1 for place in row - stay if place < len(glob) and _alike(glob[place], sign)}
            row = _stars(stay | step, glob)
    return len(glob) in row


def _stars(row: set[int], glob: Sequence[str | None]) -> set[int]:
    found = set(row)
    for place in sorted(row):
        while place < len(glob) and glob[place] is None:
            place += 1
            found.add(place)
    return found


def _alike(one: str | None, other: str) -> bool:
    return not one or not other or one == other
