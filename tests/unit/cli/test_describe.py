"""What a request shows of its input: all of it, each line its own, whatever the agent put there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarterdeck.cli.output.request_lines import describe

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["command", "description", "questions", "plan", "quarterdeck_truncated"]) | st.text(max_size=5)


def shown(form: str | None, tool_input: dict[str, Any]) -> list[str]:
    return describe({"request_id": "r1", "form": form, "tool_input": tool_input, "truncated": None})


@pytest.mark.law("D10")
@pytest.mark.law("I4")
@given(st.sampled_from([None, "questions", "plan", "elicitation"]), st.dictionaries(KEYS, values, max_size=4))
def test_whatever_an_agent_asks_is_shown_in_lines(form: str | None, tool_input: dict[str, Any]) -> None:
    lines = shown(form, tool_input)
    assert all("\n" not in line for line in lines)
    assert bool(lines) is bool(tool_input)


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
            "x\n       y",
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
    asked = {"questions": [{"question": "Which?\n◆ r2  Bash", "options": [{"label": "a\nb", "description": ""}]}]}
    assert shown("questions", asked) == ["Which?⏎◆ r2  Bash", "  1. a⏎b"]


def test_questions_show_their_head_and_whether_they_take_several() -> None:
    question = {"header": "DB", "question": "Which?", "multiSelect": True, "options": [{"label": "a"}, {"label": "b"}]}
    assert shown("questions", {"questions": [question]}) == ["[DB] Which? (any number of them)", "  1. a", "  2. b"]


def test_a_form_shows_every_field_with_what_it_takes() -> None:
    fields = {
        "name": {"type": "string", "title": "Name", "minLength": 2, "maxLength": 9, "default": "Bo"},
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["small", "large"], "description": "How big"},
    }
    schema = {"type": "object", "properties": fields, "required": ["name"]}
    assert shown("elicitation", {"mcp_server_name": "el", "message": "Please", "requested_schema": schema}) == [
        "Please",
        'name (text, needed, at least 2, at most 9) ["Bo"]: Name',
        "size (text): How big",
        "  1. s: small",
        "  2. l: large",
        "mcp_server_name: el",
    ]


def test_the_description_beside_a_command_is_left_out() -> None:
    assert shown(None, {"command": "ls\npwd", "description": "look"}) == ["ls", "pwd"]
