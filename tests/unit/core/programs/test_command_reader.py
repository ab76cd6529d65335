"""Options are read as their programs read them: bundled, attached, abbreviated, with one dash or two."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.core.programs.command_reader import effects_of, implied_effects
from quarterdeck.core.programs.grammar import (
    FETCH,
    MORE,
    NAMED,
    OPERAND,
    OUTSIDE,
    PROGRAM,
    PROJECT,
    SEND,
    UNKNOWN,
    WRITE,
)
from quarterdeck.core.programs.registry import known_programs, program
from tests.support.examples import examples
from tests.support.rulebook import effect_of, runs


def effects(line: str, named: int = 0) -> int:
    words = shlex.split(line)
    command = program(words[0])
    assert command is not None
    return effects_of(command, words, "", named)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sort -rn x", 0),
        ("sort -rno x", WRITE | NAMED),
        ("sort -ox y", WRITE | NAMED),
        ("sort --out=x", WRITE | NAMED),
        ("sort --outp x", WRITE | NAMED),
        ("sort --compress-prog=x", PROGRAM),
        ("sort --frob", UNKNOWN),
        ("go test -exec x", PROJECT | PROGRAM),
        ("go test --exec=x", PROJECT | PROGRAM),
        ("go test -run x ./...", PROJECT),
        ("git -C sub status", 0),
        ("git push", SEND),
        ("git frob", UNKNOWN),
        ("git log -5 -S -- x", 0),
        ("git log --grep -- --output=/x", OUTSIDE | NAMED),
        ("git stash -u", WRITE),
        ("npm run x -- --config y", PROJECT),
        ("npm run x --workspace -- --script-shell=y", PROJECT | PROGRAM),
        ("jq --arg a b '.[$a]' x", 0),
        ("find . -exec cat {} + -delete", WRITE),
        ("timeout 5 rm -rf /", 0),
        ("pytest -- -pevil", PROJECT | UNKNOWN),
    ],
)
def test_the_effects_of_a_command(line: str, expected: int) -> None:
    assert effects(line) == expected


def test_words_that_a_rule_names_do_not_count() -> None:
    assert effects("sort -o /x y", named=3) == 0
    assert effects("sort -o /x y", named=2) == OUTSIDE | NAMED


def test_a_rule_for_a_program_covers_what_it_is_for_and_never_more() -> None:
    assert implied_effects(("git",)) == WRITE | FETCH | NAMED | MORE
    assert implied_effects(("pytest",)) == PROJECT | NAMED | MORE
    assert not implied_effects(("npx",)) & (PROGRAM | OPERAND)


def test_a_rule_for_a_subcommand_covers_its_effects_and_one_for_an_operand_no_other_operand() -> None:
    assert implied_effects(("git", "push")) & SEND
    assert implied_effects(("npm", "install")) & (PROGRAM | OPERAND) == OPERAND
    assert not implied_effects(("npm", "install", "x")) & OPERAND
    assert not implied_effects(("pip", "install", "-r", "requirements.txt")) & OPERAND
    assert implied_effects(("curl",)) & FETCH
    assert not implied_effects(("curl", "http://a")) & FETCH


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("rm -rf build", "rm -rf build src"),
        ("systemctl restart nginx", "systemctl restart nginx sshd"),
        ("kubectl delete pod web", "kubectl delete pod web db"),
        ("kubectl delete pod web", "kubectl delete pod web --all"),
        ("kubectl delete pod/web", "kubectl delete pod/web pod/db"),
        ("git push origin main", "git push origin main --tags"),
        ("make test", "make test deploy"),
        ("mvn test", "mvn test -pl core deploy"),
        ("brew install jq", "brew install jq other"),
        ("chmod +x a.sh", "chmod +x a.sh b.sh"),
    ],
)
def test_a_rule_that_names_what_a_command_acts_on_covers_nothing_else(rule: str, line: str) -> None:
    named = tuple(rule.split())
    assert effects(line, len(named)) & ~implied_effects(named) & MORE
    assert not effects(rule, len(named)) & ~implied_effects(named)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("rm", "rm a b"),
        ("kubectl delete pod", "kubectl delete pod web db --all"),
        ("git push origin", "git push origin main --tags"),
        ("git push origin main", "git push origin main -o ci.skip"),
        ("make test", "make test VERBOSE=1"),
        ("make", "make test lint"),
        ("chmod +x", "chmod +x a.sh b.sh"),
    ],
)
def test_a_rule_that_does_not_name_it_covers_all(rule: str, line: str) -> None:
    named = tuple(rule.split())
    assert not effects(line, len(named)) & ~implied_effects(named) & MORE


words = st.sampled_from(
    ["-a", "-o", "--output=x", "--", "x", "/x", "-x=1", "--no-color", "@f", "-5", "log", "run", "test", "-"]
)


@pytest.mark.law("R3")
@given(st.sampled_from(sorted(known_programs())), st.lists(words, max_size=6), st.integers(0, 6))
@examples(4)
def test_naming_words_never_adds_an_effect(name: str, rest: list[str], named: int) -> None:
    command = program(name)
    assert command is not None
    every = effects_of(command, (name, *rest))
    assert effects_of(command, (name, *rest), "", named) & ~every == 0


@pytest.mark.law("R3")
@given(st.sampled_from(sorted(known_programs())), st.lists(words, max_size=5), words)
@examples(4)
def test_a_word_without_effect_stays_without_one_when_a_flag_follows(name: str, rest: list[str], more: str) -> None:
    command = program(name)
    assert command is not None
    before, after = effects_of(command, (name, *rest)), effects_of(command, (name, *rest, more))
    assert before & ~after & (SEND | PROJECT) == 0 or command.subcommands


def test_a_value_that_looks_like_an_option_is_judged_as_one_too() -> None:
    assert effect_of(runs("sed --line-length -e 'w /tmp/x' a"), "allow Bash(sed:*)") is None
    assert effect_of(runs("black -t --check /home/me/other"), "allow Bash(black:*)") is None
    assert effect_of(runs("rg -e --foo src"), "allow Bash(rg:*)") == "allow"


def test_a_tool_that_runs_the_project_gets_no_file_elsewhere_by_an_option_that_seems_harmless() -> None:
    assert effect_of(runs("golangci-lint run --out-format json:/home/me/x"), "allow Bash(golangci-lint run:*)") is None
    assert effect_of(runs("pytest -o cache_dir=/home/me/x"), "allow Bash(pytest:*)") is None
    assert effect_of(runs("npx jest -t '/users returns all'"), "allow Bash(npx jest:*)") == "allow"


def test_a_rule_for_the_form_without_a_subcommand_covers_no_subcommand() -> None:
    assert effect_of(runs("git remote -v"), "allow Bash(git remote -v:*)") == "allow"
    assert effect_of(runs("git remote -v add x https://x.example"), "allow Bash(git remote -v:*)") is None
