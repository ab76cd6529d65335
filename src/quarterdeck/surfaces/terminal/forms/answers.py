"""Answers to questions, forms and plans: read from typed text, the same way on every terminal surface; pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from quarterdeck.core.model.decisions import PlanMode
from quarterdeck.core.model.payload import obj
from quarterdeck.core.text.forms import FormField, form_fields, validation_error

YES, NO = ("yes", "y", "true"), ("no", "n", "false")
PLAN_MODES = {
    PlanMode.ACCEPT_EDITS: ("edits files without asking", "everything else is asked as usual"),
    PlanMode.DEFAULT: ("asks as usual", "before every edit and every command that no rule allows"),
    PlanMode.AUTO: ("lets Claude Code judge", "asks only for what its own check finds risky"),
    PlanMode.DONT_ASK: ("never asks", "what no rule allows is refused instead"),
}
"""Each mode in words. The first one is preselected."""


def questions_of(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The questions of a request; none when any has an unknown shape, so that the raw input is shown instead."""
    questions = request["tool_input"].get("questions")
    if not isinstance(questions, list) or not all(
        isinstance(q, dict) and isinstance(q.get("question"), str) for q in questions
    ):
        return []
    options = [q.get("options", []) for q in questions]
    return questions if all(isinstance(o, list) and all(isinstance(x, dict) for x in o) for o in options) else []


def fields_of(request: Mapping[str, Any]) -> list[FormField]:
    """The fields of a form."""
    return form_fields(obj(request["tool_input"], "requested_schema"))


def question_answer(question: Mapping[str, Any], chosen: list[int], typed: str) -> str | list[str] | None:
    """The answer from the chosen options and the typed words.

    Typed words are added where several options may be chosen, and replace the option where only one may be."""
    labels = option_labels(question)
    picked = [labels[place] for place in chosen]
    if question.get("multiSelect"):
        return [*picked, *([typed] if typed else [])] or None
    return typed or (picked[0] if picked else None)


def option_labels(question: Mapping[str, Any]) -> list[str]:
    return [str(option.get("label", "")) for option in question.get("options", [])]


def read_answer(question: Mapping[str, Any], text: str) -> str | list[str] | None:
    """The answer a text means: a label, `2`, your own words, or words that could be a number as `; 7`. Where several
    may be chosen also `1,3` or `A, B`, with your own words as `1,3; words`. An exact label wins over a number, as a
    label may be one. None for an empty text; ValueError for the number of no option."""
    text, labels = text.strip(), option_labels(question)
    if text in labels:
        return question_answer(question, [labels.index(text)], "")
    names, semicolon, words = text.partition(";")
    if semicolon and not names.strip():
        return question_answer(question, [], words.strip())
    is_several = bool(question.get("multiSelect"))
    if not labels or (words and not is_several):
        return question_answer(question, [], text)
    is_numbers = re.fullmatch(r"[0-9\s,]*[0-9][0-9\s,]*", names) is not None
    parts = re.findall(r"[0-9]+", names) if is_numbers else [part.strip() for part in names.split(",")]
    places = [place for part in dict.fromkeys(parts) if (place := _place(labels, part)) is not None]
    if len(places) == len(dict.fromkeys(parts)) and (is_several or len(places) == 1):
        return question_answer(question, places, words.strip())
    if is_numbers:
        raise ValueError(f"{names.strip()}: must be {_choice_hint(len(labels), is_several)}; as words: “; {text}”")
    return question_answer(question, [], text)


def _choice_hint(count: int, is_several: bool) -> str:
    numbers = f"from 1 to {count}" if count > 1 else "1"
    return f"numbers {numbers}, like 1,{count}" if is_several and count > 1 else f"a number {numbers}"


def answer_hint(question: Mapping[str, Any]) -> str:
    """What can be typed at a question."""
    count, is_several = len(question.get("options", [])), bool(question.get("multiSelect"))
    if not count:
        return "Answer in your own words."
    both = ", or both, like 1; and words" if is_several else ""
    return f"Answer by {_choice_hint(count, is_several)}, by a label, or in your own words{both}."


def _place(labels: list[str], text: str) -> int | None:
    """The option that a text names by its label or its number."""
    if text in labels:
        return labels.index(text)
    return int(text) - 1 if re.fullmatch(r"[0-9]{1,4}", text) and 0 < int(text) <= len(labels) else None


def read_value(field: FormField, text: str) -> Any:
    """The value a text means for a form field: yes or no, a number, a list as `a, b` or as JSON, an object as JSON, a
    choice by its value, its title or its number. ValueError, with what it must be, when it is invalid."""
    value: Any = text
    if field.type == "array":
        value = [_choice(field, one) for one in _list_items(text)]
    elif field.choices:
        value = _choice(field, text.strip())
    elif field.type == "boolean":
        word = text.strip().lower()
        value = True if word in YES else False if word in NO else text
    elif field.type in ("integer", "number"):
        value = _number(text)
    elif field.type == "object":
        value = _json(text)
        if not isinstance(value, dict):
            raise ValueError("must be a JSON object")
    return checked_value(field, value)


def checked_value(field: FormField, value: Any) -> Any:
    """The value, if the field accepts it; ValueError, with what it must be, when it does not."""
    if problem := validation_error(field, value):
        raise ValueError(problem)
    return value


def value_text(value: Any) -> str:
    """A value as text that `read_value` reads back."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _list_items(text: str) -> list[Any]:
    found = _json(text) if text.lstrip().startswith("[") else None
    return found if isinstance(found, list) else [part.strip() for part in text.split(",") if part.strip()]


def _choice(field: FormField, typed: Any) -> Any:
    """The choice with this value, title or number, in this order."""
    if not isinstance(typed, str):
        return typed
    for value, title in field.choices:
        if typed in (str(value), title):
            return value
    place = _place([title for _, title in field.choices], typed)
    return typed if place is None else field.choices[place][0]


def _number(text: str) -> int | float | str:
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
