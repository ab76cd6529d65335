from __future__ import annotations

import shlex

import pytest

from quarterdeck.core.programs.credential_files import credential_words, may_name_credentials
from tests.support.rulebook import effect_of, runs


@pytest.mark.parametrize(
    "line",
    [
        "cat ~/.ssh/id_rsa",
        "cat ../.ssh/id_rsa",
        "cat .ssh/id_ed25519",
        "head -c 10 /etc/shadow",
        "grep x --file=/etc/shadow",
        "jq . /home/me/.docker/config.json",
        "less ~/.pgpass",
        "tail ~/.s*h/id_rsa",
        "cat ~/.a*/cred*",
        "cat /etc/sh*",
        "diff a ~someone/.aws/credentials",
        "cat /proc/1/environ",
        "cat /proc/self/env*",
        "cat /proc/self/root/etc/shadow",
        "cat /etc/ssl/../shadow",
        "cat /etc//shadow",
        "cat /e*/shadow",
        "cat ~/.aws/c*",
        "cat ~/.npmrc",
        "cat ~/.bash_history",
        "grep -f/etc/shadow x",
        "rg token ~",
        "cp -r ~/.config .",
    ],
)
def test_a_file_with_credentials_is_found_and_no_rule_that_does_not_name_it_covers_it(line: str) -> None:
    assert may_name_credentials(line, frozenset({line.partition(" ")[0]}))
    assert list(credential_words(shlex.split(line)))
    program = line.partition(" ")[0]
    assert effect_of(runs(line), f"allow Bash({program}:*)") is None


@pytest.mark.parametrize(
    "line",
    [
        "cat src/cookies",
        "cat ~/.ssh/id_rsa.pub",
        "cat ~/notes/a.md",
        "sed -n 's/.*//p' a.txt",
        "grep '/.*x' a.txt",
        "ls ~/.ssh",
        "git commit -m 'read tokens from ~/.netrc'",
    ],
)
def test_other_files_and_programs_that_only_see_names_are_not(line: str) -> None:
    assert list(credential_words(shlex.split(line))) == []


def test_a_rule_that_names_the_file_covers_it_and_no_other() -> None:
    assert effect_of(runs("cat -n ~/.netrc"), "allow Bash(cat -n ~/.netrc:*)") == "allow"
    assert effect_of(runs("cat ~/.netrc ~/.pgpass"), "allow Bash(cat ~/.netrc:*)") is None


def test_a_rule_for_a_program_without_a_grammar_is_taken_at_its_word() -> None:
    assert effect_of(runs("frobnicate ~/.netrc"), "allow Bash(frobnicate:*)") == "allow"


def test_files_that_come_from_elsewhere_count_too() -> None:
    rules = ("allow Bash(cat:*)", "allow Bash(cd:*)", "allow Bash(find:*)", "allow Bash(xargs:*)", "allow Bash(echo:*)")
    for line in (
        "cd ~/.aws && cat credentials",
        "cd && cat .netrc",
        "find ~/.ssh -type f -exec cat {} +",
        "echo ~/.netrc | xargs cat",
    ):
        assert effect_of(runs(line), *rules) is None
    assert effect_of(runs("wc -c < /etc/shadow"), "allow Bash(wc:*)") is None
    assert effect_of(runs("find src -type f -exec cat {} +"), *rules) == "allow"
    assert effect_of(runs("find ~/.ssh -type f"), *rules) == "allow"
