"""Properties of reading shell texts: on the corpora, on random texts, and compared with a real bash."""

from __future__ import annotations

import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.shell.script import read_script
from tests.support.corpora import outcome
from tests.support.shell_corpus import allowing, corpus
from tools.shell_fuzz import CHARACTERS, disagreements, texts

STARTER = allowing("git log:*", "ls:*", "echo:*", "cat:*", "npm run test:*", "find:*", "sort:*", "grep:*", "sed:*")
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
def test_bash_runs_no_command_in_a_clear_text_that_was_not_parsed() -> None:
    clear, found = disagreements(islice(texts(20_260_401), 4_000))
    assert clear > 400
    assert found == []


def test_the_check_against_bash_notices_a_missed_command() -> None:
    """Check the check: if the parser misses a command, the comparison shows it."""
    from tools.shell_fuzz import covered, tried_by_bash

    (tried,) = tried_by_bash(["git log\n\\rm -rf x"])
    assert not all(covered(read_script("git log"), words) for words in tried)


@pytest.mark.law("R3")
@given(lines | soup, st.sampled_from(APPENDED))
def test_appending_text_never_allows_more(text: str, more: str) -> None:
    assert outcome(STARTER, text) == "allow" or outcome(STARTER, text + more) != "allow"


@pytest.mark.law("R3")
@pytest.mark.parametrize("more", APPENDED)
def test_an_allowed_line_of_the_corpora_is_not_allowed_with_more_appended(more: str) -> None:
    allowed = [(rules, text[2:]) for rules, text in corpus("shell_everyday.txt") if text[0] == "+" and "#" not in text]
    assert len(allowed) > 100
    assert [text for rules, text in allowed if outcome(rules, text + more) == "allow"] == []


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
def test_every_text_is_read_quickly(piece: str) -> None:
    """Texts of any length: the parser never gets one it would be slow with."""
    for length in (400, 8_000, 64_000):
        started = time.process_time()
        read_script(piece * (length // len(piece)))
        assert time.process_time() - started < 1
