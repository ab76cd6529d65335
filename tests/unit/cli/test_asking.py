"""What a person types at a question or into a field, as the answer it stands for."""

from __future__ import annotations

from typing import Any

import pytest

from quarterdeck.cli.output.prompts import answers_from, read_choice, read_value
from quarterdeck.core.text.forms import Field
from quarterdeck.errors import Refused

ONE: dict[str, Any] = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
MANY = {**ONE, "question": "Which ones?", "multiSelect": True}


def request(*questions: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": "r1", "form": "questions", "tool_input": {"questions": list(questions)}}


def form(**fields: Any) -> dict[str, Any]:
    return {"request_id": "r1", "form": "elicitation", "tool_input": {"requested_schema": {"properties": fields}}}


@pytest.mark.parametrize(
    ("question", "typed", "chosen"),
    [
        (ONE, "2", "B"),
        (ONE, "3", "3"),
        (ONE, "0", "0"),
        (ONE, "neither, 1", "neither, 1"),
        (MANY, "1, 2", ["A", "B"]),
        (MANY, "2", ["B"]),
        (MANY, "A, B", ["A", "B"]),
        (MANY, "both, really", ["both, really"]),
    ],
)
def test_numbers_stand_for_options_and_other_words_for_themselves(
    question: dict[str, Any], typed: str, chosen: object
) -> None:
    assert read_choice(question, typed) == chosen


def test_words_of_the_command_line_are_answers() -> None:
    assert answers_from(request(ONE), ["B"]) == {"Which?": "B"}
    assert answers_from(request(MANY), ["A"]) == {"Which ones?": ["A"]}
    assert answers_from(request(MANY), ["A", "B"]) == {"Which ones?": ["A", "B"]}
    assert answers_from(request(ONE, MANY), ["A", "B"]) == {"Which?": "A", "Which ones?": ["B"]}
    with pytest.raises(Refused, match="2 questions take one word each"):
        answers_from(request(ONE, MANY), ["A"])


def test_a_number_on_the_command_line_is_the_option_that_the_list_shows_under_it() -> None:
    assert answers_from(request(ONE, MANY), ["2", "1,2"]) == {"Which?": "B", "Which ones?": ["A", "B"]}
    assert answers_from(request(MANY), ["2", "A", "my own"]) == {"Which ones?": ["B", "A", "my own"]}
    assert answers_from(request(ONE), ["3"]) == {"Which?": "3"}


def test_a_label_that_is_a_number_stands_for_itself() -> None:
    sizes = {"question": "How many?", "options": [{"label": "2"}, {"label": "1"}]}
    assert answers_from(request(sizes), ["1"]) == {"How many?": "1"}


def test_words_of_the_command_line_fill_in_a_form() -> None:
    asked = form(name={"type": "string"}, age={"type": "integer"})
    assert answers_from(asked, ["name=Bo=b", "age=7"]) == {"name": "Bo=b", "age": 7}
    with pytest.raises(Refused, match="age: must be a whole number"):
        answers_from(asked, ["age=old"])
    with pytest.raises(Refused, match="NAME is one of name, age"):
        answers_from(asked, ["pet=cat"])


SIZES = (("s", "small"), ("l", "large"))


@pytest.mark.parametrize(
    ("field", "typed", "value"),
    [
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "0.5", 0.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "n", False),
        ({"type": "string"}, "7", "7"),
        ({"type": "string", "choices": SIZES}, "2", "l"),
        ({"type": "string", "choices": SIZES}, "small", "s"),
        ({"type": "array", "choices": SIZES}, "l, 1", ["l", "s"]),
    ],
)
def test_what_is_typed_becomes_what_the_field_takes(field: dict[str, Any], typed: str, value: object) -> None:
    assert read_value(Field(name="f", required=True, **field), typed) == value


@pytest.mark.parametrize(
    ("field", "typed"),
    [({"type": "integer"}, "x"), ({"type": "boolean"}, "maybe"), ({"type": "string", "choices": SIZES}, "medium")],
)
def test_what_a_field_does_not_take_is_told(field: dict[str, Any], typed: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        read_value(Field(name="f", required=True, **field), typed)
