"""What a request wants, in lines that hide nothing."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable
from typing import Any

from quarterdeck.core.text import one_line, visible


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
        lines.append(one_line(str(question.get("question", ""))))
        lines += [one_line(f"  - {o.get('label', '')}: {o.get('description', '')}") for o in options]
    return lines


Form = tuple[tuple[str, Callable[[object], list[str] | None]], ...]
_COMMAND: Form = (("command", _text),)
_FORMS: dict[str, Form] = {"questions": (("questions", _questions),), "plan": (("plan", _text),)}
"""The fields of an input that have a form of their own, by the form of its request."""
