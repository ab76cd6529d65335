"""Answers from what a person types at a question or into a field."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.cli.output.prompts import answers_from
from quarterdeck.errors import Refused

ONE: dict[str, Any] = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
MANY = {**ONE, "question": "Which ones?", "multiSelect": True}


def request(*questions: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": "r1", "form": "questions", "tool_input": {"questions": list(questions)}}


def form(**fields: Any) -> dict[str, Any]:
    return {"request_id": "r1", "form": "elicitation", "tool_input": {"requested_schema": {"properties": fields}}}


def test_arguments_become_answers() -> None:
    assert answers_from(request(ONE), ["B"]) == {"Which?": "B"}
    assert answers_from(request(MANY), ["A"]) == {"Which ones?": ["A"]}
    assert answers_from(request(MANY), ["A", "B"]) == {"Which ones?": ["A", "B"]}
    assert answers_from(request(ONE, MANY), ["A", "B"]) == {"Which?": "A", "Which ones?": ["B"]}
    with pytest.raises(Refused, match="2 questions need one argument each"):
        answers_from(request(ONE, MANY), ["A"])


def test_a_number_on_the_command_line_is_the_option_that_the_list_shows_under_it() -> None:
    assert answers_from(request(ONE, MANY), ["2", "1,2"]) == {"Which?": "B", "Which ones?": ["A", "B"]}
    assert answers_from(request(MANY), ["2", "A", "my own"]) == {"Which ones?": ["B", "A", "my own"]}
    assert answers_from(request(ONE), ["; 3"]) == {"Which?": "3"}
    with pytest.raises(Refused, match="3: must be a number from 1 to 2"):
        answers_from(request(ONE), ["3"])


def test_a_label_that_is_a_number_stands_for_itself() -> None:
    sizes = {"question": "How many?", "options": [{"label": "2"}, {"label": "1"}]}
    assert answers_from(request(sizes), ["1"]) == {"How many?": "1"}


def test_arguments_fill_in_a_form() -> None:
    fields = form(name={"type": "string"}, age={"type": "integer"})
    assert answers_from(fields, ["name=Bo=b", "age=7"]) == {"name": "Bo=b", "age": 7}
    with pytest.raises(Refused, match="age: must be a whole number"):
        answers_from(fields, ["age=old"])
    with pytest.raises(Refused, match="NAME is one of name, age"):
        answers_from(fields, ["pet=cat"])
