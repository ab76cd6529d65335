from __future__ import annotations

import pytest

from quarterdeck.core.shell.rule_free_calls import needs_no_rule
from quarterdeck.core.shell.script import read_script
from tests.support.rulebook import CWD, effect_of, runs


@pytest.mark.parametrize(
    "line", ["true", "pwd", "sleep 2", "test -f a", "echo done", "printf '%s' a", "ls -la src", "cd src"]
)
def test_what_waits_tests_or_shows_needs_no_rule(line: str) -> None:
    script = read_script(line)
    assert needs_no_rule(script.calls[0], 0, script, CWD)


@pytest.mark.parametrize("line", ["ls ~/.ssh", "ls ../x", "cat a.txt", "rm a", "frobnicate", "git log"])
def test_anything_else_does(line: str) -> None:
    script = read_script(line)
    assert not needs_no_rule(script.calls[0], 0, script, CWD)


@pytest.mark.parametrize(
    "line", ["cat a.txt | grep x", "head -20 src/a.py | grep x", "grep x a | head -5", "ls | xargs grep x"]
)
def test_a_file_of_the_project_may_be_passed_to_what_a_rule_covers(line: str) -> None:
    assert effect_of(runs(line), "allow Bash(grep:*)") == "allow"


@pytest.mark.law("R8")
@pytest.mark.parametrize(
    "line", ["cat .env | grep x", "cat ~/.netrc | grep x", "cat ../x | grep x", "grep x a; cat a", "grep x a > b"]
)
def test_no_other_file_is(line: str) -> None:
    assert effect_of(runs(line), "allow Bash(grep:*)") is None


def test_a_line_of_these_alone_asks() -> None:
    assert effect_of(runs("echo a; ls"), "allow Bash(grep:*)") is None


@pytest.mark.law("R8")
@pytest.mark.parametrize(
    "program", ["python3", "node", "ruby", "perl", "bash", "psql", "mysql", "sqlite3 a.db", "ssh web"]
)
def test_a_text_is_not_piped_into_a_program_that_runs_it(program: str) -> None:
    assert effect_of(runs(f"echo x | {program}"), f"allow Bash({program}:*)") is None
