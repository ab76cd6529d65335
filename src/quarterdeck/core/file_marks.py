"""What a path must hold for a pattern over files to be about it, so that most words of a line need no closer look."""

from __future__ import annotations

import re
from collections.abc import Iterable

from quarterdeck.core.globs import folded, literals, plain
from quarterdeck.core.path_patterns import Files, has_wildcard

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
            known = [text for part in files.parts if (text := plain(part)) is not None and _is_mark(text)]
            texts = [text for part in files.parts if part != "**" for text in literals(part) if text.isascii()]
            if known:
                parts.add(folded(known[-1]))  # the deepest is the least likely in other paths
            elif texts:
                pieces.add(folded(max(texts, key=len)))
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


def _is_mark(text: str) -> bool:
    """Whether the text stays whole when a word is cut where a path may begin in it."""
    return text.isascii() and text != "" and not _CUT.search(text)


_CUT = re.compile(r"[=@/]")
