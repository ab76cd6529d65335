"""Corpora of shell texts with the rules that hold for them, and a whole line judged by such rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from quarterdeck.core.shell.script import grants, mentions, only_reads, read_script

CORPUS = Path(__file__).parent.parent / "corpus"
Pattern = tuple[tuple[str, ...], bool]


class Rules(NamedTuple):
    allow: tuple[Pattern, ...] = ()
    ask: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


def pattern(text: str) -> Pattern:
    """The words of `git log:*`, and whether anything may follow."""
    return tuple(text.removesuffix(":*").split()), text.endswith(":*")


def allowing(*texts: str) -> Rules:
    return Rules(allow=tuple(map(pattern, texts)))


def outcome(rules: Rules, text: str) -> str:
    """What these rules make of a line: "denied", "allowed", or "asks"."""
    script = read_script(text)
    if any(mentions(*rule, call) for rule in rules.deny for call in script.calls):
        return "denied"
    if script.doubts or any(mentions(*rule, call) for rule in rules.ask for call in script.calls):
        return "asks"
    granted = [only_reads(call) or any(grants(*rule, call) for rule in rules.allow) for call in script.calls]
    return "allowed" if granted and all(granted) else "asks"


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
            yield rules, _spelled(line)


def _spelled(line: str) -> str:
    return re.sub(r"⟨([0-9a-f]+)⟩", lambda found: chr(int(found.group(1), 16)), line.replace("⏎", "\n"))
