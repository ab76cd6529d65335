from __future__ import annotations

import pytest

from quarterdeck.core.patterns.coverage import coverage, is_judged, runs_anything


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("Bash(git:*)", "covers what only reads, writes in the project, fetches from the network"),
        ("Bash(git log *)", "covers what only reads"),
        ("Bash(pytest:*)", "covers what only reads, runs the project's own code"),
        ("Bash(frobnicate:*)", "covers whatever the arguments say: Quarterdeck does not know frobnicate"),
        ("Bash(ls:*)", ""),
        ("Bash(git log)", ""),
        ("Edit(src/**)", ""),
    ],
)
def test_a_rule_says_what_it_covers(pattern: str, words: str) -> None:
    assert coverage(pattern) == words


def test_programs_without_a_grammar_cannot_be_judged() -> None:
    assert is_judged(("git", "log"))
    assert is_judged(("python", "x.py"))
    assert not is_judged(("frobnicate",))


def test_a_program_that_hands_its_words_on_runs_anything_until_the_program_is_named() -> None:
    assert all(map(runs_anything, [("docker", "run"), ("uv", "run"), ("npx",), ("ssh",)]))
    assert not any(map(runs_anything, [("docker", "ps"), ("npx", "eslint"), ("npm", "install"), ("git",), ("x",)]))
