from __future__ import annotations

import pytest

from quarterdeck.core.programs.interpreters import (
    could_run_or_write,
    interprets,
    known_name,
    runs_or_writes,
    script_place,
)


@pytest.mark.parametrize(
    "words", [("python", "-c", "x"), ("bash",), ("node", "-e", "x"), ("perl", "-ne", "x"), ("sudo", "-i")]
)
def test_a_text_is_run(words: tuple[str, ...]) -> None:
    assert runs_or_writes(words, 1)


@pytest.mark.parametrize("words", [("python", "x.py", "-c"), ("bash", "x.sh"), ("node", "--version"), ("frob", "-c")])
def test_a_file_or_another_program_is_not(words: tuple[str, ...]) -> None:
    assert not runs_or_writes(words, 1)


def test_an_interpreter_is_known_by_its_path_and_with_a_version() -> None:
    assert known_name("/usr/bin/python3.12") == "python"
    assert interprets(("/usr/bin/perl5.36", "-e", "x"))
    assert could_run_or_write("gdb")


def test_node_tests_with_its_own_reporters_and_no_other() -> None:
    assert not runs_or_writes(("node", "--test", "--test-reporter=spec"), 2)
    assert not runs_or_writes(("node", "--test", "--test-reporter", "tap"), 2)
    assert runs_or_writes(("node", "--test", "--test-reporter=./x.js"), 2)
    assert runs_or_writes(("node", "--test", "--test-reporter", "x"), 2)
    assert runs_or_writes(("node", "--test", "--test-reporter=tap", "--test-reporter-destination=x"), 2)
    assert runs_or_writes(("node", "--test", "-e", "x"), 2)


def test_the_file_that_an_interpreter_runs_is_found() -> None:
    assert script_place(("node", "--check", "a.js")) == 2
    assert script_place(("bash", "-o", "errexit", "a.sh")) == 3
    assert script_place(("frob", "a.js")) == -1


def test_java_loads_nothing_from_elsewhere() -> None:
    assert runs_or_writes(("java", "-jar", "/x/a.jar"), 1)
    assert runs_or_writes(("java", "-cp", "lib:/x", "Main"), 1)
    assert not runs_or_writes(("java", "-cp", "lib", "Main", "/data"), 1)
    assert not runs_or_writes(("java", "-jar", "/x/a.jar", "run"), 3)
