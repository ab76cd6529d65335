"""Long random strings: a secret of an unknown service looks like one. Ids and hashes only look like them."""

from __future__ import annotations

import re

SHORTEST = 24
_CHUNK = re.compile(r"(?:h1:|sha\d{1,3}:)?[A-Za-z0-9+/_=.~-]{24,}")
_PART = re.compile(r"[A-Za-z0-9+_=-]{24,}")

_HASH = re.compile(r"sha(?:1|224|256|384|512)[-_:]|h1[-:]|AAAA(?:B3NzaC1|C3NzaC1|E2VjZHNh|Gnn)", re.IGNORECASE)
"""A hash that names itself, and a public key of SSH: nothing in it is secret."""

_ID = re.compile(
    r"(?:toolu|srvtoolu|msg|req|call|run|chatcmpl|resp|item|fc|rs|asst|thread|step|file|batch|session|cse|env|evt|in|cus|price)"
    r"[_-][A-Za-z0-9_-]+|[A-Fa-f0-9-]+|[a-z0-9_=-]+|[A-Z0-9_=-]+|01[0-9A-HJKMNP-TV-Z]{24}"
)
"""Ids of messages and tools, hashes, and names in one case."""

_WORD = re.compile(r"[A-Z][a-z]{3,}|[a-z]{5,}")
_CLASSES = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|[+/_-]+")


def is_random(text: str) -> bool:
    """True for a string with letters of both cases and digits that change as often as chance makes them change. Words
    that are written together change once a word."""
    if len(text) < SHORTEST or _ID.fullmatch(text):
        return False
    letters = text.rstrip("=")
    if not any(c.isdigit() for c in letters) or letters.islower() or letters.isupper():
        return False
    changes = len(_CLASSES.findall(letters)) - 1
    in_words = sum(len(word) for word in _WORD.findall(letters))
    return changes >= 0.3 * len(letters) and in_words < 0.65 * len(letters)


def _is_base64(chunk: str) -> bool:
    """True for base64 with slashes, which is one secret. A path has short parts or a dot, and its parts count alone."""
    if (
        "/" not in chunk
        or "." in chunk
        or chunk.startswith("/")
        or "//" in chunk
        or chunk.count("/") > len(chunk) // 10
    ):
        return False
    return is_random(chunk.replace("/", "+"))


def _without_random(chunk: str, mark: str) -> str:
    if _HASH.match(chunk):
        return chunk
    if _is_base64(chunk):
        return mark
    return _PART.sub(lambda part: mark if is_random(part[0]) and not _HASH.match(part[0]) else part[0], chunk)


def without_random_strings(text: str, mark: str) -> str:
    """The text with every long random string replaced."""
    return _CHUNK.sub(lambda chunk: _without_random(chunk[0], mark), text)
