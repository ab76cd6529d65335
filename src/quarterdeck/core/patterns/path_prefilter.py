"""A cheap test whether a path pattern can match a text, so that most words of a line are never resolved to paths."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from quarterdeck.core.model.rule import MAX_RULES
from quarterdeck.core.patterns.globs import folded, literals, plain
from quarterdeck.core.patterns.path_patterns import PathPattern, has_wildcard

MAX_TEXT_LENGTH = 2048
"""A longer text always passes: a path of twice that length does not exist, and every path rule covers it."""

_ATTACHED = re.compile(r"(?:\A|/)-[^-/]([^/]+)")  # the value of a short option


class PathPrefilter:
    """For each pattern, a part of every path it matches, or a text in such a part. If a pattern has neither, every text
    passes. False positives are allowed, false negatives are not, so the prefilter never changes a verdict."""

    def __init__(self, patterns: Iterable[PathPattern]) -> None:
        parts: set[str] = set()
        pieces: set[str] = set()
        self._all = False
        for files in patterns:
            part, piece = _mark(tuple(files.parts))
            if part:
                parts.add(part)
            elif piece:
                pieces.add(piece)
            else:
                self._all = True
        self._parts = frozenset(parts)
        self._pieces = re.compile("|".join(map(re.escape, sorted(pieces)))) if pieces else None

    def may_match(self, text: str) -> bool:
        """True if a word, a path, or several joined by slashes, may belong to a path that a pattern matches."""
        if self._all or len(text) > MAX_TEXT_LENGTH or not text.isascii() or has_wildcard(text):
            return True
        lowered = text.lower()
        if self._pieces is not None and self._pieces.search(lowered):
            return True
        parts = lowered.replace("=", "/").replace("@", "/").split("/")  # a path may follow either
        return not (self._parts.isdisjoint(parts) and self._parts.isdisjoint(_ATTACHED.findall(lowered)))


# A prefilter is rebuilt whenever a rule changes, and most of its patterns are the same as before.
@lru_cache(MAX_RULES)
def _mark(pattern: tuple[str, ...]) -> tuple[str, str]:
    """A whole part of every path that the pattern matches, or else a text in one; empty if there is none."""
    whole_parts = [text for part in pattern if (text := plain(part)) is not None and _is_mark(text)]
    if whole_parts:
        return folded(whole_parts[-1]), ""  # the deepest is the least likely in other paths
    texts = [text for part in pattern if part != "**" for text in literals(part) if text.isascii()]
    return "", folded(max(texts, key=len, default=""))


def _is_mark(text: str) -> bool:
    """True if the text stays whole when a word is split where a path may begin."""
    return text.isascii() and text != "" and not _PATH_START.search(text)


_PATH_START = re.compile(r"[=@/]")
