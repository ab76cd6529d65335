from __future__ import annotations

import pytest

from quarterdeck.core.programs.command_effects import (
    WordEffects,
    command_effects,
    could_run_or_write,
    covers_rest,
    effect_text,
    implied,
    interprets,
    is_indirect,
    stays_in_project,
)
from quarterdeck.core.programs.grammar import PROGRAM, PROJECT, SEND, UNKNOWN
from quarterdeck.core.programs.registry import known_programs, program
from tests.support.rulebook import effect_of, runs


def test_a_module_after_python_m_is_read_like_its_program() -> None:
    assert command_effects(("python3", "-m", "pytest", "-p", "x")) & PROGRAM
    assert command_effects(("python3", "-m", "pytest", "-q")) == PROJECT
    assert implied(("python", "-m", "pytest")) & PROJECT


def test_a_program_without_a_grammar_is_taken_at_its_word() -> None:
    assert command_effects(("frobnicate", "--all", "/x")) == 0
    assert covers_rest(("frobnicate",), ("frobnicate", "--all"))


def test_an_interpreter_of_a_text_runs_a_program() -> None:
    assert command_effects(("python", "-c", "x")) == PROGRAM
    assert command_effects(("python", "/x.py")) == PROGRAM
    assert command_effects(("python", "x.py")) == 0
    assert interprets(("python", "-c", "x"))


def test_the_words_with_effects_are_explained() -> None:
    found: list[WordEffects] = []
    command_effects(("git", "push"), found=found)
    assert [(word.word, effect_text(word.effects)) for word in found] == [
        ("git push", "sends or changes something elsewhere")
    ]


def test_a_tool_of_the_project_stays_in_it() -> None:
    assert stays_in_project(("pytest", "-q"), "")
    assert not stays_in_project(("curl", "http://x"), "")
    assert not stays_in_project(("frobnicate",), "")
    assert could_run_or_write("sort")
    assert not could_run_or_write("cat")
    assert is_indirect(PROGRAM)
    assert not is_indirect(SEND)


@pytest.mark.law("R8")
@pytest.mark.parametrize("name", sorted(known_programs() - {"["}))
def test_a_word_that_is_not_in_the_grammar_asks(name: str) -> None:
    command = program(name)
    assert command is not None
    for option in ("--frobnicate-it", "-\u00e9"):
        if not {"-*", "--*"} & command.options.keys():
            assert command_effects((name, option)) & UNKNOWN, option
    if command.subcommands and not {"*", "**"} & command.subcommands.keys() and "open" not in command.flags:
        assert command_effects((name, "frobnicate")) & UNKNOWN


@pytest.mark.law("R8")
@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("git:*", "git frobnicate"),
        ("git log:*", "git log --frobnicate"),
        ("pytest:*", "pytest --frobnicate"),
        ("kubectl get:*", "kubectl get pods --frobnicate"),
    ],
)
def test_no_rule_covers_a_word_that_is_not_in_the_grammar(rule: str, line: str) -> None:
    assert effect_of(runs(line), f"allow Bash({rule})") is None


def test_modules_of_python_itself_are_no_programs_of_the_same_name() -> None:
    assert effect_of(runs("python -m gzip /home/me/x"), "allow Bash(python:*)") is None
    assert effect_of(runs("python -m http.server"), "allow Bash(python:*)") is None
    assert effect_of(runs("python -m json.tool a.json"), "allow Bash(python:*)") == "allow"
    assert effect_of(runs("gzip -l a.gz"), "allow Bash(gzip:*)") == "allow"


def test_a_module_that_coverage_runs_is_judged() -> None:
    assert effect_of(runs("coverage run -m pytest -q"), "allow Bash(coverage:*)") == "allow"
    assert effect_of(runs("coverage run -m pytest -p evil"), "allow Bash(coverage:*)") is None
