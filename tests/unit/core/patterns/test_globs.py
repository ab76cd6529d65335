"""Globs: the texts and paths they match, in bounded time for every pattern."""

from __future__ import annotations

import fnmatch
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.patterns.globs import Glob, PathGlob, literal, plain

signs = st.text(alphabet="ab*?", max_size=8)
words = st.text(alphabet="ab", max_size=10)


@given(signs, words)
def test_a_glob_over_text_matches_like_fnmatch(glob: str, text: str) -> None:
    assert Glob(glob).matches(text) is fnmatch.fnmatchcase(text, glob)


@given(st.text(max_size=20), st.text(max_size=20))
def test_a_literal_glob_matches_its_text_and_nothing_else(text: str, other: str) -> None:
    assert Glob(literal(text)).matches(text)
    assert Glob(literal(text)).matches(other) is (text == other)
    assert plain(literal(text)) == text


@pytest.mark.parametrize(
    ("glob", "path", "is_match"),
    [
        ("src/**", "src/a", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/*", "src/a/b", False),
        ("src/**/b", "src/b", True),
        ("src/**/b", "src/x/y/b", True),
        ("**/b", "b", True),
        ("**/b", "x/b", True),
        ("**/b/**", "x/b/c", True),
        ("**/b/**", "x/b", False),
        ("*.py", "a.py", True),
        ("*.py", "x/a.py", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("**/x/**/y", "x/x/y", True),
        ("**", "a/b/c", True),
    ],
)
def test_a_glob_over_a_path(glob: str, path: str, is_match: bool) -> None:
    assert PathGlob(glob.split("/")).matches(path.split("/")) is is_match


def test_files_below_a_path_can_match_and_so_can_the_folder_itself() -> None:
    assert PathGlob(["a"]).matches(["a", "b"], below=True)
    assert PathGlob(["**", "a"]).matches(["x", "a", "b"], below=True)
    assert PathGlob(["a", "**"]).matches(["a"], itself=True)
    assert not PathGlob(["a"]).matches(["ab"], below=True)


parts = st.lists(st.sampled_from(["a", "b", "**", "*", "a*"]), max_size=5)


def matches_by_recursion(glob: list[str], path: list[str]) -> bool:
    """Match a path glob by plain recursion, which is slow but easy to trust."""
    if not glob:
        return not path
    if glob[0] == "**":
        deeper = bool(path) and matches_by_recursion(glob, path[1:])
        return bool(path) if len(glob) == 1 else matches_by_recursion(glob[1:], path) or deeper
    return bool(path) and fnmatch.fnmatchcase(path[0], glob[0]) and matches_by_recursion(glob[1:], path[1:])


@given(parts, st.lists(st.sampled_from(["a", "b", "ab"]), max_size=6))
def test_a_path_glob_matches_like_the_plain_recursion(glob: list[str], path: list[str]) -> None:
    assert PathGlob(glob).matches(path) is matches_by_recursion(glob, path)


def steps(glob: str, size: int) -> int:
    """Count the lines of Python it takes to reject a text that nearly matches."""
    matcher, text, count = Glob(glob), "a" * size, 0

    def trace(*_: object) -> object:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        assert not matcher.matches(text)
    finally:
        sys.settrace(None)
    return count


@pytest.mark.law("I10")
@pytest.mark.parametrize(
    "glob", ["*a" * 100 + "b", "a*" * 100 + "b", "*?" * 100 + "b", "*a?" * 60 + "b", "*" * 300 + "b"]
)
def test_matching_takes_a_bounded_number_of_steps(glob: str) -> None:
    assert steps(glob, 4096) <= steps(glob, 1024) + 5
