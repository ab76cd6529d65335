"""The words that may follow on a command line."""

from __future__ import annotations

import pytest

from quarterdeck.cli.quick.command_index import read_index
from quarterdeck.cli.quick.completion import candidates, completion_text

NAMES = {"sessions": [("5bcc959a", "shop")], "requests": [("h1-7", "Bash ls"), ("h2-8", "Read x")]}


def words(line: str) -> list[str]:
    """The words that complete the last word of a line."""
    *before, current = line.split(" ")
    return [word for word, _ in candidates(read_index(), before, current, lambda kind: NAMES.get(kind, []))]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("req", ["requests"]),
        ("rules ad", ["add"]),
        ("help takeo", ["takeover"]),
        ("requests h1", ["h1-7"]),
        ("allow h1-7 h", ["h1-7", "h2-8"]),
        ("send 5b", ["5bcc959a"]),
        ("send 5bcc959a ", []),
        ("feed --session ", ["5bcc959a"]),
        ("feed --fol", ["--follow"]),
        ("run --mode ", ["sdk", "tmux", "pty"]),
        ("run --mode=p", ["--mode=pty"]),
        ("run --mode pty --worktr", ["--worktree"]),
        ("allow h1-7 --remember pro", ["project"]),
        ("projects trust ", [":dirs"]),
        ("replay-nothing x", []),
        ("completion ", ["bash", "zsh", "fish"]),
        ("--u", ["--url"]),
        ("--token-file ", [":files"]),
        ("--url https://x --token-file f run --mode ", ["sdk", "tmux", "pty"]),
    ],
)
def test_a_line_is_completed(line: str, completed: list[str]) -> None:
    assert words(line) == completed


def test_every_command_is_offered_at_the_beginning_with_its_meaning() -> None:
    found = dict(candidates(read_index(), [], "", lambda kind: []))
    assert found["requests"] == "List the requests that wait for you, or show one of them."


def test_names_of_another_machine_are_not_asked_for_while_you_type() -> None:
    assert completion_text(["--url", "https://otter.example", "send", ""]) == ""
