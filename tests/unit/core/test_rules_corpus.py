"""The corpora of shell texts, judged by whole rulebooks: no bypass is allowed, everyday lines do what is expected."""

from __future__ import annotations

import pytest

from quarterdeck.core.rules.rulebook import Rulebook
from tests.support.rulebook import rule, runs
from tests.support.shell_corpus import Rules, corpus

EXPECTED = {"+": "allow", "-": "deny", "?": "asks"}


def book(made: Rules) -> Rulebook:
    """The rules of a corpus as patterns; those that no allow can have are left out, as a person could not add them."""
    texts = [
        f"{effect} Bash({' '.join(words)}{':*' if open_end else ''})"
        for effect in ("allow", "ask", "deny")
        for words, open_end in getattr(made, effect)
        if words
    ]
    return Rulebook.of(map(rule, texts))


def outcome(made: Rules, line: str) -> str:
    effect = book(made).verdict(runs(line), 1.0).effect
    return effect if effect in ("allow", "deny") else "asks"


@pytest.mark.law("R2")
@pytest.mark.law("R3")
def test_no_bypass_is_allowed() -> None:
    lines = list(corpus("shell_bypasses.txt"))
    assert len(lines) >= 300
    assert [line for made, line in lines if outcome(made, line) == "allow"] == []


def test_everyday_lines_do_what_a_person_expects() -> None:
    lines = [(made, line[:1], line[1:].strip()) for made, line in corpus("shell_everyday.txt")]
    assert len(lines) >= 200
    surprising = [(line, sign) for made, sign, line in lines if outcome(made, line) != EXPECTED[sign]]
    assert surprising == []
