"""What a request wants, in lines that hide nothing."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable
from typing import Any

from quarterdeck.core.text.forms import WORDS, Field, fields_of
from quarterdeck.core.text.sanitize import one_line, visible


def describe(request: dict[str, Any], without: frozenset[str] = frozenset()) -> list[str]:
    """What is wanted: a field that has no better form is shown as it is, and `without` are those shown elsewhere."""
    tool_input: dict[str, Any] = request["tool_input"]
    if request["truncated"] is not None:
        short = request["truncated"]
        whole = f"… {short['bytes']:,} bytes in all; see the whole with: qd requests {request['request_id']}"
        return [*lines_of(short["begins"][:400]), whole]
    shown: list[str] = []
    rest = {key: value for key, value in tool_input.items() if key not in without}
    for key, form in _FORMS.get(request["form"] or "", _COMMAND):
        found = form(rest.get(key))
        if found is not None:
            shown += found
            del rest[key]
    if request["form"] is None and isinstance(rest.get("description"), str) and shown:
        del rest["description"]
    return shown + [line for key, value in rest.items() for line in field_lines(key, value)]


def lines_of(text: str) -> list[str]:
    """Harmless, and each line of it a line of its own."""
    return visible(text).split("\n")


def field_lines(key: str, value: object) -> list[str]:
    """A field of the input as it is: real lines, not escaped ones."""
    lines = lines_of(value if isinstance(value, str) else jsonlib.dumps(value, ensure_ascii=False))
    name = one_line(key)
    return [f"{name}: {lines[0]}"] if len(lines) == 1 else [f"{name}:", *("  " + line for line in lines)]


def _text(value: object) -> list[str] | None:
    return lines_of(value) if isinstance(value, str) and value.strip() else None


def _questions(value: object) -> list[str] | None:
    """Questions with their options; None when any of them has another shape, so that it is shown as it is."""
    lines: list[str] = []
    for question in value if isinstance(value, list) and value else [None]:
        if not isinstance(question, dict):
            return None
        options = question.get("options", [])
        if not isinstance(options, list) or not all(isinstance(option, dict) for option in options):
            return None
        lines += question_lines(question)
    return lines


def question_lines(question: dict[str, Any]) -> list[str]:
    """A question with its numbered options, and whatever else it carries."""
    head = f"[{question['header']}] " if question.get("header") else ""
    many = " (any number of them)" if question.get("multiSelect") is True else ""
    lines = [one_line(f"{head}{question.get('question', '')}{many}")]
    for number, option in enumerate(question.get("options", []), 1):
        told = f": {option['description']}" if option.get("description") else ""
        lines.append(one_line(f"  {number}. {option.get('label', '')}{told}"))
        lines += _rest(option, ("label", "description"), "     ")
    return lines + _rest(question, ("header", "question", "multiSelect", "options"), "  ")


def _rest(thing: dict[str, Any], shown: tuple[str, ...], indent: str) -> list[str]:
    return [indent + line for key, value in thing.items() if key not in shown for line in field_lines(key, value)]


_SAID = ("type", "title", "description", "default", "enum", "enumNames", "oneOf", "anyOf", "items", "format")
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


def _form(value: object) -> list[str] | None:
    """A form's fields; None when its schema has another shape, so that it is shown as it is."""
    fields = fields_of(value) if isinstance(value, dict) else []
    if not isinstance(value, dict) or not fields or len(fields) != len(value.get("properties", {})):
        return None
    shapes = value["properties"]
    shown = [[*entry_lines(field), *_rest(shapes[field.name], (*_SAID, *_LIMITS), "  ")] for field in fields]
    return [line for lines in shown for line in lines] + _rest(value, ("type", "properties", "required"), "")


def entry_lines(field: Field) -> list[str]:
    """A field of a form: its name, what it takes, and its numbered choices."""
    limits = [f"at least {field.low:g}"] if field.low is not None else []
    limits += [f"at most {field.high:g}"] if field.high is not None else []
    kind = [WORDS.get(field.type, field.type), field.format, "needed" if field.required else "", *limits]
    default = f" [{jsonlib.dumps(field.default, ensure_ascii=False)}]" if field.default is not None else ""
    told = " – ".join(part for part in (field.title, field.description) if part)
    head = f"{field.name} ({', '.join(part for part in kind if part)}){default}" + (f": {told}" if told else "")
    choices = [(value, title if title != str(value) else "") for value, title in field.choices]
    rows = [f"  {n}. {value}" + (f": {title}" if title else "") for n, (value, title) in enumerate(choices, 1)]
    return [one_line(line) for line in (head, *rows)]


Form = tuple[tuple[str, Callable[[object], list[str] | None]], ...]
_COMMAND: Form = (("command", _text),)
_FORMS: dict[str, Form] = {
    "questions": (("questions", _questions),),
    "plan": (("plan", _text),),
    "elicitation": (("message", _text), ("requested_schema", _form)),
}
"""The fields of an input that have a form of their own, by the form of its request."""
