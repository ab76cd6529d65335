"""Can a path pattern and a path with wildcards, as a shell or a search tool reads it, mean the same file? When in
doubt, yes: braces, brackets and `**` are read broadly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from quarterdeck.core.patterns.globs import pattern_characters

BRACES = re.compile(r"\{([^{}\s]*?(?:,|\.\.)[^{}\s]*+)\}")  # other braces are plain characters
_OPENING = frozenset(("", "*", "?", "[", "{", "\\"))
_BRACKETS = re.compile(r"\[[^\]]*+\]")

MAX_WILDCARD_PATHS = 16
"""Paths with wildcards that are checked in one tool use. Each is compared with every pattern."""

MAX_PARTS = 256
MAX_SPELLINGS = 32


def paths_overlap(pattern: Sequence[str], written: Sequence[str]) -> bool:
    """True if a path made of the written parts can be one that the pattern matches, or be below one. A written `**`
    passes through all folders but names none: the last part of the pattern needs a written part of its own."""
    if len(written) > MAX_PARTS:
        return True
    at = 0
    while at < min(len(pattern), len(written)) and pattern[at] == written[at] != "**":
        at += 1
    pattern, written = pattern[at:], written[at:]
    if pattern and written and "**" not in (pattern[0], written[0]) and not names_overlap(pattern[0], written[0]):
        return False
    last = max((place for place, part in enumerate(pattern) if part != "**"), default=0)
    places = _past_double_stars({0}, pattern)
    for part in written:
        if len(pattern) in places:
            return True
        stay = {place for place in places if pattern[place] == "**"}
        if part == "**":
            places = places | set(range(min(places, default=last), last + 1))
        else:
            places = stay | {place + 1 for place in places - stay if names_overlap(pattern[place], part)}
        places = _past_double_stars(places, pattern)
    return len(pattern) in places or (bool(pattern) and pattern[-1] == "**" and len(pattern) - 1 in places)


def _past_double_stars(places: set[int], pattern: Sequence[str]) -> set[int]:
    """The places, and those reached from them when a `**` stands for nothing and more follows."""
    reached = set(places)
    for place in sorted(places):
        while place < len(pattern) - 1 and pattern[place] == "**":
            place += 1
            reached.add(place)
    return reached


# A line with several wildcards is compared with every pattern, part by part, and the same pairs come again.
@lru_cache(maxsize=4096)
def names_overlap(glob: str, written: str) -> bool:
    """True if the glob and the written name, which may have wildcards too, have a name in common."""
    if glob[:1] != written[:1] and glob[:1] not in _OPENING and written[:1] not in _OPENING:
        return False
    return any(
        _characters_overlap(list(pattern_characters(glob)), _pattern_characters(spelling))
        for spelling in _spellings(written)
    )


def _spellings(written: str) -> Iterator[str]:
    """Yield the name with every choice of its braces; with a star in their place if there are too many."""
    spellings = [written]
    for _ in range(MAX_SPELLINGS):
        matches = [(text, BRACES.search(text)) for text in spellings]
        if not any(braces for _, braces in matches):
            break
        spellings = [
            text if braces is None else text[: braces.start()] + choice + text[braces.end() :]
            for text, braces in matches
            for choice in (_choices(braces[1]) if braces else [""])
        ][: MAX_SPELLINGS + 1]
    if len(spellings) > MAX_SPELLINGS:
        spellings = [BRACES.sub("*", written)]
    yield from spellings


def _choices(inside: str) -> list[str]:
    return inside.split(",") if "," in inside else ["*"]


def _pattern_characters(written: str) -> list[str | None]:
    """The characters of a name: None for any text, "" for any one character, which a bracket counts as too."""
    return [{"*": None, "?": ""}.get(sign, sign) for sign in _BRACKETS.sub("?", written)]


def _characters_overlap(glob: Sequence[str | None], written: Sequence[str | None]) -> bool:
    """True if two rows of characters can be the same name, in time linear in each."""
    row = _past_stars({0}, glob)
    for sign in written:
        if sign is None:
            row = set(range(min(row), len(glob) + 1)) if row else row
        else:
            stay = {place for place in row if place < len(glob) and glob[place] is None}
            step = {place + 1 for place in row - stay if place < len(glob) and _may_be_equal(glob[place], sign)}
            row = _past_stars(stay | step, glob)
    return len(glob) in row


def _past_stars(row: set[int], glob: Sequence[str | None]) -> set[int]:
    reached = set(row)
    for place in sorted(row):
        while place < len(glob) and glob[place] is None:
            place += 1
            reached.add(place)
    return reached


def _may_be_equal(one: str | None, other: str) -> bool:
    return not one or not other or one == other
