"""Answers read from typed text, the same on the command line, in plain mode and in the dialogs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from quarterdeck.cli.output.prompts import answers_from
from quarterdeck.core.text.forms import form_fields
from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.forms.answers import question_answer, read_answer, read_value, value_text
from quarterdeck.surfaces.terminal.request_item import RequestItem
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.choices import NumberedChoice, WordChoice
from quarterdeck.surfaces.tui.dialogs.decisions.form import FormDialog
from tests.support.pilot import TuiPilot
from tests.support.plain_story import PlainStory
from tests.support.recorded_daemon import Json, RecordedDaemon, connected, request, session, snapshot

ONE: Json = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}
MANY = {**ONE, "multiSelect": True}
OPEN = {"question": "How many?", "options": []}
SIZES = {"question": "How many?", "options": [{"label": "2"}, {"label": "1"}, {"label": "Yes, always"}]}


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (ONE, "2", "B"),
        (ONE, "B", "B"),
        (ONE, " 2 ", "B"),
        (ONE, "neither, 1", "neither, 1"),
        (ONE, "1; and more", "1; and more"),
        (ONE, "; 7", "7"),
        (ONE, "", None),
        (OPEN, "7", "7"),
        (SIZES, "2", "2"),
        (SIZES, "3", "Yes, always"),
        (SIZES, "Yes, always", "Yes, always"),
        (MANY, "1, 2", ["A", "B"]),
        (MANY, "1 2", ["A", "B"]),
        (MANY, "2", ["B"]),
        (MANY, "2,2", ["B"]),
        (MANY, "A, B", ["A", "B"]),
        (MANY, "1, B", ["A", "B"]),
        (MANY, "1; and words", ["A", "and words"]),
        (MANY, "both, really", ["both, really"]),
        (MANY, "use A; it is fast", ["use A; it is fast"]),
        (MANY, "; 7", ["7"]),
        (MANY, "", None),
    ],
)
def test_an_answer_is_a_label_a_number_or_your_own_words(question: Json, text: str, answer: object) -> None:
    assert read_answer(question, text) == answer


@pytest.mark.parametrize(("question", "text"), [(ONE, "3"), (ONE, "0"), (ONE, "1,2"), (MANY, "1,9"), (MANY, "9; more")])
def test_the_number_of_no_option_is_refused_and_the_reason_says_how_to_send_it_as_words(
    question: Json, text: str
) -> None:
    with pytest.raises(ValueError, match=rf"must be .* from 1 to 2.*“; {text}”"):
        read_answer(question, text)
    assert read_answer(question, f"; {text}") == question_answer(question, [], text)


@pytest.mark.parametrize(
    ("question", "chosen", "typed", "answer"),
    [
        ({"options": [{"label": "A"}, {"label": "B"}]}, [1], "", "B"),
        ({"options": [{"label": "A"}]}, [0], "mine", "mine"),
        ({"options": [{"label": "A"}]}, [], "", None),
        ({"options": [{"label": "A"}, {"label": "B"}], "multiSelect": True}, [0, 1], "", ["A", "B"]),
        ({"options": [{"label": "A"}], "multiSelect": True}, [0], "more", ["A", "more"]),
        ({"options": [{"label": "A"}], "multiSelect": True}, [], "", None),
        ({}, [], "free", "free"),
    ],
)
def test_an_answer_is_the_chosen_options_or_the_typed_words(
    question: dict[str, Any], chosen: list[int], typed: str, answer: object
) -> None:
    assert question_answer(question, chosen, typed) == answer


@given(st.sampled_from([ONE, MANY, OPEN, SIZES]), st.text())
def test_any_text_can_be_sent_as_words(question: Json, text: str) -> None:
    assert read_answer(question, f"; {text}") == question_answer(question, [], text.strip())


WORDS = [{"const": "s", "title": "small"}, {"const": "l", "title": "large"}]
FIELDS: list[tuple[Json, str, Any]] = [
    ({"type": "string"}, "7", "7"),
    ({"type": "string"}, "[1]", "[1]"),
    ({"type": "integer"}, "7", 7),
    ({"type": "number"}, "0.5", 0.5),
    ({"type": "boolean"}, "Yes", True),
    ({"type": "boolean"}, "y", True),
    ({"type": "boolean"}, "true", True),
    ({"type": "boolean"}, "n", False),
    ({"type": "boolean"}, "False", False),
    ({"enum": ["small", "large"]}, "large", "large"),
    ({"enum": ["small", "large"]}, "2", "large"),
    ({"enum": ["2", "1"]}, "2", "2"),
    ({"type": "integer", "enum": [10, 20]}, "20", 20),
    ({"type": "string", "oneOf": WORDS}, "small", "s"),
    ({"type": "string", "oneOf": WORDS}, "l", "l"),
    ({"type": "array"}, "a, b", ["a", "b"]),
    ({"type": "array"}, '["a, b", 1]', ["a, b", 1]),
    ({"type": "array", "items": {"anyOf": WORDS}}, "l, 1", ["l", "s"]),
    ({"type": "array", "items": {"anyOf": WORDS}}, '["small"]', ["s"]),
    ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
]
REFUSED: list[tuple[Json, str, str]] = [
    ({"type": "integer"}, "seven", "must be a whole number"),
    ({"type": "integer"}, "1.5", "must be a whole number"),
    ({"type": "number"}, "nan", "must be a number"),
    ({"type": "boolean"}, "maybe", "must be a yes or no"),
    ({"enum": ["small", "large"]}, "3", "must be one of: small, large"),
    ({"type": "array", "items": {"enum": ["a"]}}, "a, c", "must be one of: a"),
    ({"type": "object"}, "[1]", "must be a JSON object"),
    ({"type": "string", "format": "email"}, "me", "must be an e-mail address"),
    ({"type": "integer", "minimum": 18}, "7", "must be at least 18"),
]


def form(field: Json, *required: str) -> Json:
    schema = {"type": "object", "properties": {"f": field}, "required": list(required)}
    return request(kind="question", form="elicitation", tool_input={"message": "?", "requested_schema": schema})


@pytest.mark.parametrize(("field", "text", "value"), FIELDS)
async def test_a_typed_value_means_the_same_on_the_command_line_and_in_plain_mode(
    field: Json, text: str, value: Any
) -> None:
    (known,) = form_fields({"properties": {"f": field}})
    story = PlainStory(session())
    story.gets_request(form(field))
    await story.types("answer 1", text, "yes")
    sent = [read_value(known, text), answers_from(form(field), [f"f={text}"])["f"]]
    sent.append(story.daemon.decided[0][1]["answers"]["f"])
    assert [json.dumps(one) for one in sent] == [json.dumps(value)] * 3


@pytest.mark.parametrize(("field", "text", "reason"), REFUSED)
async def test_an_invalid_value_is_refused_in_the_same_words(field: Json, text: str, reason: str) -> None:
    story = PlainStory(session())
    story.gets_request(form(field))
    printed = await story.types("answer 1", text, "-", "no")
    assert any(line.startswith(f"f: {reason}") for line in printed)
    with pytest.raises(Refused, match=f"f: {reason}"):
        answers_from(form(field), [f"f={text}"])


def is_closed(app: QuarterdeckApp, dialog: FormDialog) -> bool:
    return app.screen is not dialog


async def fill_in(app: QuarterdeckApp, tui: TuiPilot, field: Json, text: str) -> tuple[FormDialog, list[Any]]:
    """Open the dialog of a form, give its field this value, and save."""
    dialog, result = FormDialog(RequestItem(form(field))), list[Any]()
    await app.push_screen(dialog, result.append)
    await tui.until(lambda: app.screen is dialog and dialog.query("#field0"), "the dialog")
    dialog.shown_at = 0.0
    for line in dialog.query(Input):
        line.value = text
    for choice in dialog.query(WordChoice):
        choice.choose(int(text.lower() in ("yes", "y", "true")))
    for choices in dialog.query(NumberedChoice):
        known = field.get("enum") or [one["const"] for one in field.get("oneOf", WORDS)]
        picked = read_value(form_fields({"properties": {"f": field}})[0], text)
        for one in picked if isinstance(picked, list) else [picked]:
            choices.pick(known.index(one))
    dialog.save()
    return dialog, result


async def test_a_value_means_the_same_in_the_dialog() -> None:
    app = QuarterdeckApp(Path("/nowhere"), daemon=RecordedDaemon([connected(), snapshot(sessions=[session()])], {}))
    async with app.run_test(size=(120, 40)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.has_snapshot, "a connection")
        for field, text, value in FIELDS:
            _, result = await fill_in(app, tui, field, text)
            await tui.until(partial(len, result), f"an end of {field}")
            assert json.dumps(result[0]["f"]) == json.dumps(value) or sorted(result[0]["f"]) == sorted(value)
        for field, text, reason in (one for one in REFUSED if "enum" not in str(one[0]) and one[1] != "maybe"):
            dialog, result = await fill_in(app, tui, field, text)
            await tui.sees(f"f: {reason}")
            assert not result
            dialog.dismiss(None)
            await tui.until(partial(is_closed, app, dialog), "the end of the dialog")


@given(st.recursive(st.integers() | st.text(), st.lists, max_leaves=4).filter(lambda value: isinstance(value, list)))
def test_a_list_as_text_is_read_back(value: list[Any]) -> None:
    (field,) = form_fields({"properties": {"f": {"type": "array"}}})
    assert read_value(field, value_text(value)) == value
