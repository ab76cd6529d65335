"""The words of the rule language."""

from __future__ import annotations

import pytest

from quarterdeck.core.model.tool_kinds import ToolKind
from quarterdeck.core.patterns.rule_words import EDITS, READS, RULE_WORDS, rule_word, word_kind


@pytest.mark.parametrize("word", RULE_WORDS)
def test_a_tool_with_the_name_and_the_kind_of_a_word_is_seen_under_it(word: str) -> None:
    assert rule_word(RULE_WORDS[word], word) == word


def test_a_tool_of_any_agent_is_seen_under_the_word_of_its_kind() -> None:
    assert rule_word("shell", "run_shell_command") == "Bash"
    assert (rule_word("read", "cat_file"), rule_word("task", "delegate")) == ("Read", "Agent")
    assert (rule_word("form", "ask_user"), rule_word("stop", "resting")) == ("Elicitation", "Stop")


def test_a_tool_without_a_word_keeps_its_name_but_never_takes_a_word() -> None:
    assert (rule_word("console", "PowerShell"), rule_word("mcp", "mcp__a__b")) == ("PowerShell", "mcp__a__b")
    assert rule_word("a kind of a later version", "Brew") == "Brew"
    assert rule_word("other", "Bash") not in RULE_WORDS
    assert rule_word("other", "Bash") != "Bash"


def test_a_word_means_a_kind_and_every_other_name_none() -> None:
    assert (word_kind("Grep"), word_kind("mcp__a"), word_kind("Brew")) == (
        ToolKind.SEARCH,
        ToolKind.MCP,
        ToolKind.OTHER,
    )


def test_edit_and_read_cover_their_kinds() -> None:
    assert EDITS == ("Edit", "Write", "MultiEdit", "NotebookEdit")
    assert READS == ("Read", "NotebookRead", "Grep", "Glob", "LS")
