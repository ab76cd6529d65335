"""The tool use that `qd rules test` and `qd rules explain` are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from quarterdeck.cli.commands.rules import broad_problems, tool_use_body
from quarterdeck.errors import Misused

HERE = Path("/w")


@pytest.mark.parametrize(
    ("words", "tool", "tool_input"),
    [
        (("Bash", "mkdir foo"), "Bash", {"command": "mkdir foo"}),
        (("Bash(mkdir foo)", ""), "Bash", {"command": "mkdir foo"}),
        (("Bash(echo '(a)' | sh)", ""), "Bash", {"command": "echo '(a)' | sh"}),
        (("Read(/etc/passwd)", ""), "Read", {"file_path": "/etc/passwd"}),
        (('mcp__db__query({"sql": "select 1"})', ""), "mcp__db__query", {"sql": "select 1"}),
        (("mcp__a.b__c({})", ""), "mcp__a.b__c", {}),
        (("Bash(ls)\n", ""), "Bash", {"command": "ls"}),
        (("Bash", ""), "Bash", {}),
    ],
)
def test_a_tool_use_is_written_as_a_tool_with_its_input_or_as_a_pattern(
    words: tuple[str, str], tool: str, tool_input: dict[str, Any]
) -> None:
    body = tool_use_body(*words, None, HERE)
    assert body == {"tool_name": tool, "tool_input": tool_input, "cwd": "/w"}


@pytest.mark.parametrize(
    "words", [("Bash(mkdir foo", ""), ("Bash mkdir foo", ""), ("mkdir foo", ""), ("Bash(ls)", "x")]
)
def test_what_is_no_tool_use_is_refused_with_the_right_form(words: tuple[str, str]) -> None:
    with pytest.raises(Misused, match=r"like Bash 'git log', or both as 'Bash\(git log\)'"):
        tool_use_body(*words, None, HERE)


def test_a_tool_in_lower_case_is_named_as_it_is_written() -> None:
    with pytest.raises(Misused, match=r"no tool is called bash; did you mean Bash\?"):
        tool_use_body("bash(mkdir foo)", "", None, HERE)


def test_anything_else_is_the_id_of_a_request() -> None:
    assert tool_use_body("q1", "", None, HERE) == {"request_id": "q1"}


def test_a_session_has_its_own_folder_unless_one_is_named() -> None:
    assert tool_use_body("Bash", "ls", "s1", None) == {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "session_id": "s1",
    }


def test_an_input_that_needs_json_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="must be JSON"):
        tool_use_body("mcp__db__query(select 1)", "", None, HERE)


@pytest.mark.parametrize("pattern", ["Bash", "Edit", "Bash(python:*)"])
def test_a_very_broad_allow_rule_is_named_before_it_is_added(pattern: str) -> None:
    [problem] = broad_problems({"effect": "allow", "pattern": pattern, "scope": "user"})
    assert pattern in problem


@pytest.mark.parametrize(("effect", "pattern"), [("deny", "Bash"), ("ask", "Edit"), ("allow", "Bash(git log:*)")])
def test_any_other_rule_is_added_without_a_question(effect: str, pattern: str) -> None:
    assert broad_problems({"effect": effect, "pattern": pattern, "scope": "user"}) == []
