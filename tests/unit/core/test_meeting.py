"""Wildcards on both sides: a pattern over files, and a path that the shell or a search makes more of."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.patterns.glob_overlap import names_meet, paths_meet
from quarterdeck.core.patterns.globs import Glob
from quarterdeck.core.rules.rulebook import Rulebook
from tests.support.rulebook import CWD, HOME, rules, runs, said, use

short = st.text("ab.", max_size=6)
globs = st.text("ab.*?", max_size=6)


@pytest.mark.law("R1")
@given(globs, globs, short)
def test_what_both_match_is_met(glob: str, written: str, name: str) -> None:
    both = Glob(glob).matches(name) and fnmatchcase(name, written)
    assert names_meet(glob, written) or not both


@given(short, globs)
def test_a_plain_name_is_met_only_by_what_matches_it(name: str, written: str) -> None:
    assert names_meet(name, written) == fnmatchcase(name, written)


@pytest.mark.parametrize(
    ("glob", "written", "meets"),
    [
        ("*.pem", "*.py", False),
        ("*.pem", "*.p*", True),
        (".env", "[.]env", True),
        (".env", "{.env,x}", True),
        (".env", "*.{ts,tsx}", False),
        (".env", "{a..z}", True),
        (".env", "{print}", False),
        (".env", "{" + "a," * 40 + "}", True),
    ],
)
def test_names_meet(glob: str, written: str, meets: bool) -> None:
    assert names_meet(glob, written) is meets


def test_two_stars_go_through_folders_and_name_nothing_themselves() -> None:
    assert paths_meet(["a", "**", ".env"], ["a", "**", ".env"])
    assert paths_meet(["a", "b", "k.txt"], ["a", "**", "k.txt"])
    assert not paths_meet(["a", "b", "**"], ["a", "**", "k.txt"])
    assert not paths_meet(["**", ".env"], ["**", "*.py"])
    assert paths_meet(["**"], ["*"])
    assert paths_meet(["x"], ["*"] * 300)


@pytest.mark.law("R1")
@pytest.mark.parametrize(
    "glob", [".env", "**/.env", "*.env", ".e*", "?env", "{.env,x}", "sub/.env", "*.py .env", "a,.env"]
)
def test_a_search_for_a_denied_file_by_its_name_is_denied(glob: str) -> None:
    assert said(use("Grep", at=CWD, pattern="x", glob=glob), "allow Read", "deny Read(.env)") == "deny"


def test_a_search_from_further_up_is_denied_too() -> None:
    assert said(use("Grep", at=HOME, path=HOME, pattern="x", glob=".env"), "deny Read(.env)") == "deny"


@pytest.mark.parametrize("glob", ["*.py", "*.{ts,tsx}", "*", "**/*", "!*.env", "src/**/*.py", "*.*"])
def test_a_search_for_other_files_is_as_allowed_as_before(glob: str) -> None:
    allowed = ("allow Read", "deny Read(.env)", "deny Read(*.pem)")
    assert said(use("Grep", at=CWD, pattern="x", glob=glob), *allowed) == "allow"
    assert said(use("Glob", at=CWD, pattern=glob), *allowed) == "allow"


def test_a_glob_for_a_denied_file_is_denied_and_too_long_a_one_too() -> None:
    assert said(use("Glob", at=CWD, pattern="**/.env"), "allow Read", "deny Read(.env)") == "deny"
    assert said(use("Grep", at=CWD, pattern="x", glob="a," * 999), "allow Read", "deny Read(.env)") == "deny"


@pytest.mark.parametrize("line", ["cat *.py", "cat src/*.py", "grep '.*' x", "awk '{print $1}' x", "sed 's/.*//' x"])
def test_other_wildcards_and_scripts_in_the_shell_are_not_denied(line: str) -> None:
    assert said(runs(line), "allow Bash", "deny Read(*.pem)", "deny Read(.env)") == "allow"


@pytest.mark.law("I10")
def test_many_wildcards_and_many_rules_take_no_long_look() -> None:
    book = Rulebook.of(rules("allow Bash", *(f"deny Read(secret{n}/*.pem)" for n in range(300))))
    began = time.process_time()
    verdict = book.verdict(runs("cat " + " ".join(f"a{n}*b" for n in range(190))), 1.0)
    assert time.process_time() - began < 1.0  # seconds of work, a tenth of it on a quiet machine
    assert verdict.effect == "ask"
