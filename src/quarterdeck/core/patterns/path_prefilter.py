"""What a path must hold for a pattern over files to be about it, so that most words of a line need no closer look."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.patterns.globs import folded, literals, plain
from quarterdeck.core.patterns.paths import Files, has_wildcard

LONGEST = 2048
"""A longer text is not told from its marks: no file has a path of twice that, and every rule is about such a path."""

_ATTACHED = re.compile(r"(?:\A|/)-[^-/]([^/]+)")  # the value of a short option


class Marks:
    """Of each pattern a part of every path it is about, or a text in such a part. A pattern may have neither."""

    def __init__(self, patterns: Iterable[Files]) -> None:
        parts: set[str] = set()
        pieces: set[str] = set()
        self._all = False
        for files in patterns:
            part, piece = _mark_of(tuple(files.parts))
            if part:
                parts.add(part)
            elif piece:
                pieces.add(piece)
            else:
                self._all = True
        self._parts = frozenset(parts)
        self._pieces = re.compile("|".join(map(re.escape, sorted(pieces)))) if pieces else None

    def may_be_in(self, text: str) -> bool:
        """Whether a word, a path, or several of them joined by slashes, may be of a path that a pattern is about."""
        if self._all or len(text) > LONGEST or not text.isascii() or has_wildcard(text):
            return True
        low = text.lower()
        if self._pieces is not None and self._pieces.search(low):
            return True
        cut = low.replace("=", "/").replace("@", "/").split("/")  # a path may follow either
        return not (self._parts.isdisjoint(cut) and self._parts.isdisjoint(_ATTACHED.findall(low)))


@lru_cache(MAX_RULES)
def _mark_of(pattern: tuple[str, ...]) -> tuple[str, str]:
    """A whole part of every path that the pattern is about, or else a text in one; neither where both are empty."""
    known = [text for part in pattern if (text := plain(part)) is not None and _is_mark(text)]
    if known:
        return folded(known[-1]), ""  # the deepest is the least likely in other paths
    texts = [text for part in pattern if part != "**" for text in literals(part) if text.isascii()]
    return "", folded(max(texts, key=len, default=""))


def _is_mark(text: str) -> bool:
    """Whether the text stays whole when a word is cut where a path may begin in it."""
    return text.isascii() and text != "" and not _CUT.search(text)


_CUT = re.compile(r"[=@/]")
