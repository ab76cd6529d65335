"""The grammars against the programs on this machine: what a program says of its options in its own help."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.core.programs.grammar import Command
from quarterdeck.core.programs.registry import program

GIT = (
    *("add", "branch", "checkout", "cherry-pick", "clone", "commit", "diff", "fetch", "grep", "log", "merge"),
    *("pull", "push", "rebase", "reset", "restore", "rm", "switch", "tag"),
)
OTHERS = ("cmake --help", "curl --help all", "sort --help", "tar --help", "uniq --help", "wget --help", "xargs --help")
INSTALLED = [line for line in OTHERS if shutil.which(line.split()[0])]
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]+)(\[?=| <|=?\[=)?")


def known_program(name: str) -> Command:
    found = program(name)
    assert found is not None
    return found


def output(words: list[str], folder: Path) -> str:
    found = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=folder, check=False)
    return found.stdout + found.stderr


def disagreements(command: Command, options: Iterator[tuple[str, bool]]) -> list[str]:
    """The options that the grammar takes for a flag, and the program for one with a value: the word after such an
    option would be read as something else than it is."""
    known = ((name, takes, command.options.get(name)) for name, takes in options)
    return [name for name, takes, option in known if option is not None and takes and not option.takes]


@pytest.mark.law("R8")
@pytest.mark.parametrize("subcommand", GIT)
def test_git_agrees_which_options_take_a_value(subcommand: str, tmp_path: Path) -> None:
    output(["git", "init", "-q", "."], tmp_path)
    listed = output(["git", subcommand, "--git-completion-helper-all"], tmp_path).split()
    command = known_program("git").subcommand(subcommand)
    assert command is not None
    assert listed
    assert disagreements(command, ((word.rstrip("="), word.endswith("=")) for word in listed)) == []


@pytest.mark.law("R8")
@pytest.mark.parametrize("line", INSTALLED)
def test_a_program_agrees_which_options_take_a_value(line: str, tmp_path: Path) -> None:
    words = line.split()
    found = _OPTION.findall(output(words, tmp_path))
    assert found
    options = ((name, sign in ("=", " <")) for name, sign in found if name != "--help")
    assert disagreements(known_program(words[0]), options) == []


@pytest.mark.law("R8")
def test_no_flag_of_curl_hides_the_word_after_it(tmp_path: Path) -> None:
    lines = output(["curl", "--help", "all"], tmp_path).split("\n")
    flags = [match[1] for line in lines if (match := re.match(r"\s+(?:-\S, )?(--[a-z][\w.-]*) +[A-Z]", line))]
    options = known_program("curl").options
    assert len(flags) > 50
    assert [flag for flag in flags if flag in options and options[flag].takes] == []
