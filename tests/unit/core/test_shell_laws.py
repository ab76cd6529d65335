"""Laws of reading shell texts, over the corpora, over anything, and against a real bash."""

from __future__ import annotations

import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.shell.script import read_script
from tests.support.shell_corpus import allowing, corpus, outcome
from tests.support.shell_fuzz import CHARACTERS, disagreements, texts

STARTER = allowing("git log:*", "ls:*", "echo:*", "cat:*", "npm run test:*", "find:*", "sort:*", "grep:*", "sed:*")
EXPECTED = {"+": "allowed", "?": "asks", "-": "denied"}
# fmt: off
APPENDED = [
    "; rm x", "\n rm x", "&& rm x", "$(rm x)", "<(rm x)", "> f", " & x", "`rm x`", "\n\\rm x", " $x",
    "\r; rm x", " 2>f",
]
# fmt: on
APPENDED += ["| sh", " || rm x"]

lines = st.integers(0, 2**32).map(lambda seed: next(texts(seed)))
soup = st.lists(st.sampled_from(CHARACTERS), max_size=40).map("".join)


@pytest.mark.law("R2")
def test_no_bypass_of_the_corpus_is_allowed() -> None:
    tried = list(corpus("shell_bypasses.txt"))
    assert len(tried) >= 300
    assert [text for rules, text in tried if outcome(rules, text) == "allowed"] == []


@pytest.mark.law("R2")
def test_everyday_commands_do_what_a_person_expects() -> None:
    tried = list(corpus("shell_everyday.txt"))
    assert len(tried) >= 200
    wrong = {text: got for rules, text in tried if (got := outcome(rules, text[2:])) != EXPECTED[text[0]]}
    assert wrong == {}


@pytest.mark.law("R2")
def test_bash_runs_nothing_in_a_clear_text_that_was_not_seen() -> None:
    clear, found = disagreements(islice(texts(20_260_401), 4_000))
    assert clear > 400
    assert found == []


def test_bash_shows_what_a_text_runs_that_was_misread() -> None:
    """The check itself: a reading that misses a command is told apart."""
    from tests.support.shell_fuzz import covered, tried_by_bash

    (tried,) = tried_by_bash(["git log\n\\rm -rf x"])
    assert not all(covered(read_script("git log"), words) for words in tried)


@pytest.mark.law("R3")
@given(lines | soup, st.sampled_from(APPENDED))
def test_appending_never_widens(text: str, more: str) -> None:
    assert outcome(STARTER, text) == "allowed" or outcome(STARTER, text + more) != "allowed"


@pytest.mark.law("R3")
@pytest.mark.parametrize("more", APPENDED)
def test_what_the_corpora_allow_is_not_allowed_with_more_behind_it(more: str) -> None:
    allowed = [(rules, text[2:]) for rules, text in corpus("shell_everyday.txt") if text[0] == "+" and "#" not in text]
    assert len(allowed) > 100
    assert [text for rules, text in allowed if outcome(rules, text + more) == "allowed"] == []


anything = st.text(max_size=300) | st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@given(anything | lines | soup)
def test_no_text_raises(text: str) -> None:
    script = read_script(text)
    assert script.doubts or script.calls


# fmt: off
PIECES = [
    "( ", "{ ", "$(", "`", "a ", "'a' ", "\\a", "<<E\n", "$((", "[[ ", "if x; then ", "! ", "{a,", "*", "a;",
    "<(", "sudo ", "xargs ", "eval ", "find -exec ", "é", "${x:-", "a\\\n", "case x in ", "\n\\", "a&", "a>b ",
    "a=b ", "$x", "f(){ ", "\r", "a\n", "''", "!", "\n", ";", "'", "&", "<", ">", "$", "${", "))", "[", "=",
    "~", "a{b}", "]]", "}", "then ", "do ", "0<", "a=(",
]
# fmt: on


@pytest.mark.law("I10")
@pytest.mark.parametrize("piece", [*PIECES, "|", "a|", "a | ", "a||"])
def test_no_text_takes_long(piece: str) -> None:
    """Of any length: what the parser would be slow at is not given to it."""
    for length in (400, 8_000, 64_000):
        started = time.process_time()
        read_script(piece * (length // len(piece)))
        assert time.process_time() - started < 1
