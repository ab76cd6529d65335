"""Wildcards on both sides: a path pattern, and a path that the shell or a search tool expands."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.patterns.glob_overlap import names_overlap, paths_overlap
from quarterdeck.core.patterns.globs import Glob
from quarterdeck.core.rules.rulebook import Rulebook
from tests.support.rulebook import CWD, HOME, effect_of, rules, runs, use

short = st.text("ab.", max_size=6)
globs = st.text("ab.*?", max_size=6)


@pytest.mark.law("R1")
@given(globs, globs, short)
def test_a_name_that_both_match_is_an_overlap(glob: str, written: str, name: str) -> None:
    both = Glob(glob).matches(name) and fnmatchcase(name, written)
    assert names_overlap(glob, written) or not both


@given(short, globs)
def test_a_plain_name_overlaps_only_globs_that_match_it(name: str, written: str) -> None:
    assert names_overlap(name, written) == fnmatchcase(name, written)


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
def test_names_overlap(glob: str, written: str, meets: bool) -> None:
    assert names_overlap(glob, written) is meets


def test_two_stars_pass_through_folders_but_name_none() -> None:
    assert paths_overlap(["a", "**", ".env"], ["a", "**", ".env"])
    assert paths_overlap(["a", "b", "k.txt"], ["a", "**", "k.txt"])
    assert not paths_overlap(["a", "b", "**"], ["a", "**", "k.txt"])
    assert not paths_overlap(["**", ".env"], ["**", "*.py"])
    assert paths_overlap(["**"], ["*"])
    assert paths_overlap(["x"], ["*"] * 300)


@pytest.mark.law("R1")
@pytest.mark.parametrize(
    "glob", [".env", "**/.env", "*.env", ".e*", "?env", "{.env,x}", "sub/.env", "*.py .env", "a,.env"]
)
def test_a_search_for_a_denied_file_by_its_name_is_denied(glob: str) -> None:
    assert effect_of(use("Grep", at=CWD, pattern="x", glob=glob), "allow Read", "deny Read(.env)") == "deny"


def test_a_search_from_a_folder_above_is_denied_too() -> None:
    assert effect_of(use("Grep", at=HOME, path=HOME, pattern="x", glob=".env"), "deny Read(.env)") == "deny"


@pytest.mark.parametrize("glob", ["*.py", "*.{ts,tsx}", "*", "**/*", "!*.env", "src/**/*.py", "*.*"])
def test_a_search_for_other_files_is_still_allowed(glob: str) -> None:
    allowed = ("allow Read", "deny Read(.env)", "deny Read(*.pem)")
    assert effect_of(use("Grep", at=CWD, pattern="x", glob=glob), *allowed) == "allow"
    assert effect_of(use("Glob", at=CWD, pattern=glob), *allowed) == "allow"


def test_a_glob_for_a_denied_file_is_denied_and_so_is_one_that_is_too_long() -> None:
    assert effect_of(use("Glob", at=CWD, pattern="**/.env"), "allow Read", "deny Read(.env)") == "deny"
    assert effect_of(use("Grep", at=CWD, pattern="x", glob="a," * 999), "allow Read", "deny Read(.env)") == "deny"


@pytest.mark.parametrize("line", ["cat *.py", "cat src/*.py", "grep '.*' x", "awk '{print $1}' x", "sed 's/.*//' x"])
def test_other_wildcards_and_scripts_in_the_shell_are_not_denied(line: str) -> None:
    assert effect_of(runs(line), "allow Bash", "deny Read(*.pem)", "deny Read(.env)") == "allow"


@pytest.mark.law("I10")
def test_many_wildcards_and_many_rules_are_checked_quickly() -> None:
    book = Rulebook.of(rules("allow Bash", *(f"deny Read(secret{n}/*.pem)" for n in range(300))))
    began = time.process_time()
    verdict = book.verdict(runs("cat " + " ".join(f"a{n}*b" for n in range(190))), 1.0)
    assert time.process_time() - began < 1.0  # seconds of work, a tenth of it on a quiet machine
    assert verdict.effect == "ask"
