"""Globs over text and over paths: `*`, `?`, `**`, and a backslash before a literal one. Matching never backtracks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

SPECIAL_CHARACTERS = "\\*?[]{}"
"""Characters with a meaning in a glob, here or in other programs. A backslash makes them literal."""

_TOKEN = re.compile(r"\\(.)|(\*+)|(\?)|([^\\*?]+)|(\\)", re.DOTALL)


def literal(text: str) -> str:
    """The text as a glob that matches it and nothing else."""
    return "".join(f"\\{sign}" if sign in SPECIAL_CHARACTERS else sign for sign in text)


def plain(glob: str) -> str | None:
    """The only text the glob matches; None if it has a wildcard."""
    tokens = list(_tokens(glob))
    return None if any(token in (_ANY_TEXT, _ANY_CHARACTER) for token in tokens) else "".join(map(str, tokens))


def literals(glob: str) -> list[str]:
    """Texts that occur in everything the glob matches."""
    return [token for token in _tokens(glob) if isinstance(token, str)]


def folded(text: str) -> str:
    """The text as a case-insensitive file system compares it."""
    return unicodedata.normalize("NFC", text.casefold())


class _Wildcard:
    """A wildcard token. Not a string, so that it cannot be confused with text."""


_ANY_TEXT, _ANY_CHARACTER = _Wildcard(), _Wildcard()


def _tokens(glob: str) -> Iterator[str | _Wildcard]:
    for found in _TOKEN.finditer(glob):
        escaped, star, mark, text, lone = found.groups()
        if star:
            yield _ANY_TEXT
        elif mark:
            yield _ANY_CHARACTER
        else:
            yield escaped or text or lone


def pattern_characters(glob: str) -> Iterator[str | None]:
    """Yield the characters of the glob: None for any text, "" for any one character."""
    for token in _tokens(glob):
        if isinstance(token, _Wildcard):
            yield None if token is _ANY_TEXT else ""
        else:
            yield from token


class _Piece:
    """A stretch between two stars: text of a known length, in which a `?` is any one character."""

    def __init__(self, tokens: Sequence[str | _Wildcard]) -> None:
        parts = ["." if isinstance(token, _Wildcard) else re.escape(token) for token in tokens]
        self.size = sum(1 if isinstance(token, _Wildcard) else len(token) for token in tokens)
        self.wild = any(isinstance(token, _Wildcard) for token in tokens)
        self.text = "" if self.wild else "".join(map(str, tokens))
        self.regex = re.compile("".join(parts), re.DOTALL)

    def at(self, text: str, start: int) -> bool:
        if not self.wild:
            return text.startswith(self.text, start)
        return self.regex.match(text, start) is not None

    def find(self, text: str, start: int, stop: int) -> int:
        """The first place where it occurs between the two, or -1."""
        if not self.wild:
            return text.find(self.text, start, stop)
        match = self.regex.search(text, start, stop)
        return match.start() if match else -1


class Glob:
    """A glob over text: `*` is any text, `?` any one character."""

    def __init__(self, glob: str) -> None:
        stretches: list[list[str | _Wildcard]] = [[]]
        for token in _tokens(glob):
            if token is _ANY_TEXT:
                stretches.append([])
            else:
                stretches[-1].append(token)
        pieces = [_Piece(stretch) for stretch in stretches]
        self._first, self._last = pieces[0], pieces[-1]
        self._middle = [piece for piece in pieces[1:-1] if piece.size]
        self._open = len(pieces) > 1

    def matches(self, text: str) -> bool:
        first, last = self._first, self._last
        if not first.at(text, 0):
            return False
        if not self._open:
            return len(text) == first.size
        place, stop = first.size, len(text) - last.size
        for piece in self._middle:
            found = piece.find(text, place, max(place, stop))
            if found < 0:
                return False
            place = found + piece.size
        return place <= stop and last.at(text, stop)


class PathGlob:
    """A glob over the parts of a path: `*` and `?` stay within a part, `**` is any number of parts."""

    def __init__(self, parts: Sequence[str]) -> None:
        runs: list[list[Glob]] = [[]]
        for part in parts:
            if part == "**":
                runs.append([])
            else:
                runs[-1].append(Glob(part))
        self._runs = runs

    def matches(self, parts: Sequence[str], *, below: bool = False, itself: bool = False) -> bool:
        """True if the glob matches this path. `below`: also everything below a path it matches. `itself`: also the
        folder before `/**`."""
        *runs, last = self._runs
        if not runs:
            fits = len(parts) == len(last) or (below and len(parts) > len(last))
            return fits and _at(last, parts, 0)
        place = self._after(runs, parts)
        if place < 0:
            return False
        if not last:
            return place < len(parts) or itself
        if below:
            return _find(last, parts, place) >= 0
        return len(parts) - len(last) >= place and _at(last, parts, len(parts) - len(last))

    def _after(self, runs: Sequence[list[Glob]], parts: Sequence[str]) -> int:
        """The place after all these runs, each matched as early as possible, or -1."""
        first, *others = runs
        if not _at(first, parts, 0):
            return -1
        place = len(first)
        for run in others:
            found = _find(run, parts, place)
            if found < 0:
                return -1
            place = found + len(run)
        return place


def _at(run: Sequence[Glob], parts: Sequence[str], place: int) -> bool:
    return place + len(run) <= len(parts) and all(glob.matches(parts[place + n]) for n, glob in enumerate(run))


def _find(run: Sequence[Glob], parts: Sequence[str], place: int) -> int:
    for start in range(place, len(parts) - len(run) + 1):
        if _at(run, parts, start):
            return start
    return -1
