"""Corpora of shell texts with the rules that apply to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CORPUS = Path(__file__).parent.parent / "corpus"
Pattern = tuple[tuple[str, ...], bool]


class Rules(NamedTuple):
    allow: tuple[Pattern, ...] = ()
    ask: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


def pattern(text: str) -> Pattern:
    """The words of `git log:*`, and true if anything may follow."""
    return tuple(text.removesuffix(":*").split()), text.endswith(":*")


def allowing(*texts: str) -> Rules:
    return Rules(allow=tuple(map(pattern, texts)))


def corpus(name: str) -> Iterator[tuple[Rules, str]]:
    """Every line of a corpus with the rules above it."""
    rules = Rules()
    for line in (CORPUS / name).read_text(encoding="utf-8").split("\n"):
        key, _, rest = line.partition(":")
        patterns = tuple(pattern(text.strip()) for text in rest.split(" | "))
        if key in ("rules", "allow"):
            rules = Rules(allow=patterns)
        elif key in ("ask", "deny"):
            rules = rules._replace(**{key: patterns})
        elif line and line[0] != "#":
            yield rules, _decoded(line)


def _decoded(line: str) -> str:
    return re.sub(r"⟨([0-9a-f]+)⟩", lambda match: chr(int(match.group(1), 16)), line.replace("⏎", "\n"))
