"""A tool's input as text that a person edits or types."""

from __future__ import annotations

import pytest

from quarterdeck.core.text.sanitize import UNSEEN
from quarterdeck.surfaces.terminal.forms.tool_input import editable_text, read_edited_input, read_tool_input
from tests.support.hostile import TEXTS


def test_a_command_is_edited_as_text_and_anything_else_as_json() -> None:
    tool_input = {"command": "ls", "description": "look"}
    assert editable_text(tool_input) == "ls"
    assert read_edited_input("ls -l\n", tool_input) == {"command": "ls -l", "description": "look"}
    assert "empty" in str(read_edited_input("  ", tool_input))
    other = {"file_path": "/w/a", "content": "x"}
    assert read_edited_input(editable_text(other), other) == other
    assert "not JSON" in str(read_edited_input("{", other))
    assert "object" in str(read_edited_input("[1]", other))


@pytest.mark.law("D10")
@pytest.mark.parametrize("text", [text for text in TEXTS if text.strip()])
def test_the_editor_shows_hidden_characters_and_returns_an_unchanged_input_as_it_was(text: str) -> None:
    for tool_input in ({"command": text}, {"content": text, "n": 1}):
        assert not UNSEEN.search(editable_text(tool_input))
        assert read_edited_input(editable_text(tool_input), tool_input) == tool_input


def test_a_typed_tool_use_is_read_by_its_tool() -> None:
    assert read_tool_input("Bash", "git log") == {"command": "git log"}
    assert read_tool_input("Edit", "/w/a") == {"file_path": "/w/a"}
    assert read_tool_input("X", '{"a": 1}') == {"a": 1}
    assert "not JSON" in str(read_tool_input("X", "{a"))
