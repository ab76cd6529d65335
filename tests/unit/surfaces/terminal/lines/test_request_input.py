"""The exact input of a request, whatever the agent sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.surfaces.terminal.lines.request_input import body
from quarterdeck.surfaces.terminal.styled_text import plain

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["command", "description", "questions", "plan", "quarterdeck_truncated"]) | st.text(max_size=5)


def shown(form: str | None, tool_input: dict[str, Any]) -> list[str]:
    view = {"request_id": "r1", "kind": "permission", "form": form, "tool_input": tool_input, "truncated": None}
    return [" " * (one.indent - 2) + plain([one.spans]) for one in body(view)]


@pytest.mark.law("D10")
@pytest.mark.law("I4")
@given(st.sampled_from([None, "questions", "plan", "elicitation"]), st.dictionaries(KEYS, values, max_size=4))
def test_any_request_is_shown_as_lines(form: str | None, tool_input: dict[str, Any]) -> None:
    lines = shown(form, tool_input)
    assert all("\n" not in line for line in lines)
    assert bool(lines) is (bool(tool_input) or form == "plan")


@pytest.mark.law("D10")
@pytest.mark.parametrize(
    ("form", "tool_input", "must"),
    [
        (None, {"quarterdeck_truncated": {"begins": "ls", "bytes": 2}, "command": "rm -rf ~"}, "rm -rf ~"),
        (None, {"command": ["rm", "-rf", "X"], "description": "List files"}, '"rm", "-rf", "X"'),
        ("plan", {"plan": "Read a file", "allowedPrompts": [{"prompt": "run anything"}]}, "run anything"),
        ("questions", {"questions": [{"question": "Which?"}], "also": "this"}, "also: this"),
        ("questions", {"questions": [5]}, "questions: [5]"),
        (
            "questions",
            {"questions": [{"question": "Q", "options": [{"label": "a", "preview": "x\ny"}]}]},
            "x\n      y",
        ),
        ("questions", {"questions": [{"question": "Q", "hidden": "also this"}]}, "hidden: also this"),
        ("elicitation", {"requested_schema": {"properties": {"a": 7}}}, '"a": 7'),
        ("elicitation", {"requested_schema": {"properties": {"a": {"type": "string"}}, "more": "x"}}, "more: x"),
        ("elicitation", {"message": "Who?", "url": "https://x"}, "url: https://x"),
        ("elicitation", {"requested_schema": {"properties": {"a": {"pattern": "^x"}}}}, "pattern: ^x"),
        ("questions", {"questions": [{"question": "Which?", "options": 7}]}, '"options": 7'),
    ],
)
def test_nothing_of_an_input_is_hidden(form: str | None, tool_input: dict[str, Any], must: str) -> None:
    assert must in "\n".join(shown(form, tool_input))


def test_a_question_cannot_look_like_another_request() -> None:
    tool_input = {"questions": [{"question": "Which?\n◆ r2  Bash", "options": [{"label": "a\nb", "description": ""}]}]}
    assert shown("questions", tool_input) == ["Which?⏎◆ r2  Bash", "  1. a⏎b"]


def test_questions_show_their_header_and_whether_several_may_be_chosen() -> None:
    question = {"header": "DB", "question": "Which?", "multiSelect": True, "options": [{"label": "a"}, {"label": "b"}]}
    assert shown("questions", {"questions": [question]}) == [
        "DB · Which? (several may be chosen)",
        "  1. a",
        "  2. b",
    ]


def test_a_form_shows_every_field_with_its_type_and_limits() -> None:
    fields = {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 9, "default": "Bo"},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["small", "large"], "description": "How big"},
    }
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    assert shown("elicitation", {"mcp_server_name": "el", "message": "Please", "requested_schema": schema}) == [
        "el:",
        "  Please",
        "name (text, required, at least 2, at most 9) [Bo]: Name",
        "size (text): How big",
        "  1. s: small",
        "  2. l: large",
    ]


def test_the_description_beside_a_command_is_shown_as_a_field() -> None:
    assert shown(None, {"command": "ls\npwd", "description": "look"}) == ["ls", "pwd", "description: look"]


def test_a_part_of_a_schema_with_an_unexpected_type_is_shown_as_it_is() -> None:
    fields = {"a": {"type": ["string", "null"], "minLength": "two", "enum": 7}}
    lines = shown("elicitation", {"requested_schema": {"properties": fields}})
    assert lines == ["a (any)", '  type: ["string", "null"]', "  minLength: two", "  enum: 7"]
