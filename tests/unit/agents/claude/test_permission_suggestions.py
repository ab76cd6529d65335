"""Claude Code's suggestions as sentences."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.agents.claude.permission_suggestions import read_suggestions

RULE = {"toolName": "Bash", "ruleContent": "git push:*"}


@pytest.mark.parametrize(
    ("suggestion", "sentence"),
    [
        (
            {"type": "addRules", "rules": [RULE], "behavior": "allow", "destination": "session"},
            "allow Bash(git push:*) in this session",
        ),
        (
            {
                "type": "addRules",
                "rules": [{"toolName": "WebFetch"}],
                "behavior": "deny",
                "destination": "userSettings",
            },
            "deny WebFetch in all your projects",
        ),
        (
            {"type": "replaceRules", "rules": [RULE], "behavior": "ask", "destination": "projectSettings"},
            "only ask about Bash(git push:*) in this project, for everyone",
        ),
        (
            {"type": "removeRules", "rules": [RULE], "behavior": "allow", "destination": "localSettings"},
            "forget the rule Bash(git push:*) in this project, for you",
        ),
        (
            {"type": "addDirectories", "directories": ["/w/a", "/w/b"], "destination": "session"},
            "work in /w/a, /w/b too in this session",
        ),
        ({"type": "removeDirectories", "directories": ["/w/a"]}, "no longer work in /w/a"),
        (
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            "accept edits without asking in this session",
        ),
        ({"type": "setMode", "mode": "new", "destination": "session"}, "switch to the mode new in this session"),
        ({"type": "surprise"}, "a change that Quarterdeck does not know (surprise)"),
        ({}, "a change that Quarterdeck does not know (unnamed)"),
        ({"type": "addRules", "rules": 7, "destination": []}, "allow nothing"),
    ],
)
def test_a_suggestion_is_a_sentence(suggestion: dict[str, Any], sentence: str) -> None:
    assert read_suggestions([suggestion]) == [sentence]


def test_a_value_that_is_not_a_suggestion_is_left_out() -> None:
    assert read_suggestions([None, 7, "x", []]) == []
