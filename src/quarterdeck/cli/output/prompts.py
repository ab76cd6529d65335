"""Questions and forms at a terminal: what a person types or gives as words, as the answers a request takes."""

from __future__ import annotations

import re
from typing import Any

import typer
from rich.text import Text

from quarterdeck.cli.common import cell, out
from quarterdeck.cli.output.request_lines import entry_lines, question_lines
from quarterdeck.core.model.payload import flag, items, obj, text
from quarterdeck.core.text.forms import Field, fields_of, misfit
from quarterdeck.errors import Refused

YES, NO = ("y", "yes", "true"), ("n", "no", "false")

Answers = dict[str, Any]
Notes = dict[str, str]


def answers_from(request: dict[str, Any], words: list[str]) -> Answers:
    """Words of the command line as answers: labels, numbers or free text for questions, NAME=VALUE for the fields of a
    form."""
    if request["form"] == "elicitation":
        return _filled(request, words)
    asked = _questions(request)
    if len(asked) == 1:
        return {text(asked[0], "question"): _joined([_read_word(asked[0], word) for word in words])}
    if len(asked) != len(words):
        raise Refused(
            f"{len(asked)} questions take one word each, like 2 or '1,3', or --answers; "
            f"see: qd requests {request['request_id']}"
        )
    return {text(question, "question"): _read_word(question, word) for question, word in zip(asked, words, strict=True)}


def _read_word(question: dict[str, Any], word: str) -> str | list[str]:
    """A label is itself, whatever its number; else as it is typed at a question."""
    if word in _labels(question):
        return [word] if flag(question, "multiSelect") else word
    return read_choice(question, word)


def _joined(chosen: list[str | list[str]]) -> str | list[str]:
    if len(chosen) == 1:
        return chosen[0]
    return [label for one in chosen for label in ([one] if isinstance(one, str) else one)]


def _filled(request: dict[str, Any], words: list[str]) -> Answers:
    fields = {field.name: field for field in _fields(request)}
    content: Answers = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in fields:
            raise Refused(f"{word}: give NAME=VALUE, where NAME is one of {', '.join(fields)}")
        try:
            content[name] = read_value(fields[name], value)
        except ValueError as error:
            raise Refused(f"{name}: {error}") from None
    return content


def ask_person(request: dict[str, Any]) -> tuple[Answers, Notes]:
    """Ask at the terminal, question by question or field by field; nothing typed leaves one out."""
    if request["form"] == "elicitation":
        out.print(cell(text(request["tool_input"], "message")))
        return _ask_fields(_fields(request)), {}
    answers: Answers = {}
    notes: Notes = {}
    for question in _questions(request):
        _show(question_lines(question))
        several = flag(question, "multiSelect")
        typed = _prompt("Numbers, or your own words" if several else "A number, or your own words")
        if typed:
            answers[text(question, "question")] = read_choice(question, typed)
        if typed and (note := _prompt("A note, or nothing")):
            notes[text(question, "question")] = note
    return answers, notes


def _ask_fields(fields: list[Field]) -> Answers:
    content: Answers = {}
    for field in fields:
        _show(entry_lines(field))
        while True:
            typed = _prompt("Value" if field.required else "Value, or nothing")
            if not typed and field.default is not None:
                content[field.name] = field.default
            if not typed:
                break
            try:
                content[field.name] = read_value(field, typed)
                break
            except ValueError as error:
                out.print(cell(f"    {error}", "red"))
    return content


def _show(lines: list[str]) -> None:
    for line in lines:
        out.print(Text(line))


def _prompt(words: str) -> str:
    return str(typer.prompt(words, default="", show_default=False)).strip()


def _questions(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [question for question in items(request["tool_input"], "questions") if isinstance(question, dict)]


def _fields(request: dict[str, Any]) -> list[Field]:
    return fields_of(obj(request["tool_input"], "requested_schema"))


def read_choice(question: dict[str, Any], typed: str) -> str | list[str]:
    """What was typed at a question: numbers, and labels with commas between them where several may be chosen, stand
    for its options; everything else for itself."""
    labels = _labels(question)
    if not flag(question, "multiSelect"):
        return _numbered(labels, typed)
    if re.fullmatch(r"[\d\s,]+", typed):
        return [_numbered(labels, number) for number in re.findall(r"\d+", typed)]
    named = [part.strip() for part in typed.split(",")]
    return named if all(name in labels for name in named) else [typed]


def _labels(question: dict[str, Any]) -> list[str]:
    return [text(option, "label") for option in items(question, "options") if isinstance(option, dict)]


def _numbered(labels: list[str], typed: str) -> str:
    return labels[int(typed) - 1] if re.fullmatch(r"\d{1,4}", typed) and 0 < int(typed) <= len(labels) else typed


def read_value(field: Field, typed: str) -> Any:
    """What was typed into a field, as the form takes it; ValueError says why it does not."""
    value: Any = typed
    if field.type == "array":
        value = [_chosen(field, part.strip()) for part in typed.split(",") if part.strip()]
    elif field.choices:
        value = _chosen(field, typed)
    elif field.type == "boolean":
        value = True if typed.lower() in YES else False if typed.lower() in NO else typed
    elif field.type in ("integer", "number"):
        value = _number(typed)
    problem = misfit(field, value)
    if problem:
        raise ValueError(problem)
    return value


def _chosen(field: Field, typed: str) -> Any:
    """A choice by its value, its title or its number."""
    for value, title in field.choices:
        if typed in (str(value), title):
            return value
    if re.fullmatch(r"\d{1,4}", typed) and 0 < int(typed) <= len(field.choices):
        return field.choices[int(typed) - 1][0]
    return typed


def _number(typed: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(typed)
        except ValueError:
            continue
    return typed
