"""Questions and forms: turns arguments, or what a person types at the terminal, into the answers of a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer

from quarterdeck.cli.common import Json, cell, out
from quarterdeck.cli.output.request_card import styled_texts
from quarterdeck.core.model.payload import flag, text
from quarterdeck.errors import Refused
from quarterdeck.surfaces.terminal.forms.answers import fields_of, questions_of, read_answer, read_value
from quarterdeck.surfaces.terminal.lines.request_input import field_lines, question_lines
from quarterdeck.surfaces.terminal.styled_text import StyledLine

Q = TypeVar("Q")


def answers_from(request: Json, words: list[str]) -> Json:
    """The answers from arguments: labels, numbers or free text for questions, NAME=VALUE for the fields of a form."""
    if request["form"] == "elicitation":
        return _filled(request, words)
    questions = questions_of(request)
    if len(questions) == 1:
        return {text(questions[0], "question"): _joined([_read_word(questions[0], word) for word in words])}
    if len(questions) != len(words):
        raise Refused(
            f"{len(questions)} questions need one argument each, like 2 or '1,3', or --answers; "
            f"see: qd requests {request['request_id']}"
        )
    pairs = zip(questions, words, strict=True)
    return {text(question, "question"): _read_word(question, word) for question, word in pairs}


def _read_word(question: Json, word: str) -> str | list[str]:
    try:
        return read_answer(question, word) or word
    except ValueError as error:
        raise Refused(str(error)) from None


def _joined(chosen: list[str | list[str]]) -> str | list[str]:
    if len(chosen) == 1:
        return chosen[0]
    return [label for one in chosen for label in ([one] if isinstance(one, str) else one)]


def _filled(request: Json, words: list[str]) -> Json:
    fields = {field.name: field for field in fields_of(request)}
    content: Json = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in fields:
            raise Refused(f"{word}: must be NAME=VALUE, where NAME is one of {', '.join(fields)}")
        try:
            content[name] = read_value(fields[name], value)
        except ValueError as error:
            raise Refused(f"{name}: {error}") from None
    return content


def ask_person(request: Json) -> tuple[Json, dict[str, str]]:
    """Prompt at the terminal for each question or field; an empty answer skips it. The answers, and notes on them."""
    answers: Json = {}
    notes: dict[str, str] = {}
    if request["form"] == "elicitation":
        out.print(cell(text(request["tool_input"], "message")))
        for field in fields_of(request):
            value = _ask(field_lines(field), "Value" if field.required else "Value (optional)", field, read_value)
            if value is not None or field.default is not None:
                answers[field.name] = field.default if value is None else value
        return answers, notes
    for question in questions_of(request):
        number = "Numbers" if flag(question, "multiSelect") else "Number"
        answer = _ask(question_lines(question), f"{number}, or your own words", question, read_answer)
        if answer is not None:
            answers[text(question, "question")] = answer
            if note := _prompt("Note (optional)"):
                notes[text(question, "question")] = note
    return answers, notes


def _ask(lines: Iterable[StyledLine], label: str, question: Q, read: Callable[[Q, str], Any]) -> Any:
    """Prompt until what was typed can be read; None for an empty line."""
    for line in styled_texts(lines):
        out.print(line)
    while typed := _prompt(label):
        try:
            return read(question, typed)
        except ValueError as error:
            out.print(cell(f"    {error}", "red"))
    return None


def _prompt(label: str) -> str:
    return str(typer.prompt(label, default="", show_default=False)).strip()
