"""Forms that MCP servers ask a person to fill in: flat objects of plain fields, read from a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import flag, items, maybe_text, number, obj, text

LIMITS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
TYPE_LABELS = {"string": "text", "number": "number", "integer": "whole number", "boolean": "yes or no", "array": "list"}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


class FormField(Struct, frozen=True, kw_only=True):
    """A form field. `choices`: the allowed values with their titles; empty if any value is allowed. `low` and `high`
    limit a number, or the length of a text or a list."""

    name: str
    type: str
    required: bool
    title: str = ""
    description: str = ""
    default: Any = None
    choices: tuple[tuple[Any, str], ...] = ()
    low: float | None = None
    high: float | None = None
    format: str = ""


def form_fields(schema: dict[str, Any]) -> list[FormField]:
    """The fields of a form, in order. Unknown parts of the schema are not checked: the MCP server does that."""
    required = items(schema, "required")
    properties = obj(schema, "properties").items()
    return [_field(name, shape, name in required) for name, shape in properties if isinstance(shape, dict)]


def _field(name: str, shape: dict[str, Any], required: bool) -> FormField:
    kind = text(shape, "type", "any")
    low, high = LIMITS.get(kind, ("minimum", "maximum"))
    return FormField(
        name=name,
        type=kind,
        required=required,
        title=text(shape, "title"),
        description=text(shape, "description"),
        default=shape.get("default"),
        choices=_choices(obj(shape, "items") if kind == "array" else shape),
        low=number(shape, low),
        high=number(shape, high),
        format=text(shape, "format"),
    )


def _choices(shape: dict[str, Any]) -> tuple[tuple[Any, str], ...]:
    """The allowed values with titles: from `enum` and `enumNames`, or from alternatives with one `const` each."""
    values, labels = items(shape, "enum"), items(shape, "enumNames")
    if values:
        titles = labels if len(labels) == len(values) else values
        return tuple((value, str(title)) for value, title in zip(values, titles, strict=True))
    alternatives = [one for one in (items(shape, "oneOf") or items(shape, "anyOf")) if isinstance(one, dict)]
    return tuple(
        (one["const"], maybe_text(one, "title") or str(one["const"])) for one in alternatives if "const" in one
    )


def form_error(schema: dict[str, Any], content: dict[str, Any]) -> tuple[str, str] | None:
    """The first invalid field and what is wrong with it; None if the content is valid."""
    fields = {field.name: field for field in form_fields(schema)}
    for name in content:
        if fields and name not in fields and not flag(schema, "additionalProperties"):
            return name, f"is not a field of the form; its fields are {', '.join(fields)}"
    for name, field in fields.items():
        if name not in content and field.required:
            return name, "is missing, and the form requires it"
        problem = validation_error(field, content[name]) if name in content else None
        if problem:
            return name, problem
    return None


def validation_error(field: FormField, value: object) -> str | None:
    """The reason why a field does not accept a value; None if it does."""
    type_check = _TYPE_CHECKS.get(field.type)
    if type_check and not type_check(value):
        return f"must be a {TYPE_LABELS[field.type]}"
    allowed = [choice for choice, _ in field.choices]
    chosen = value if isinstance(value, list) else [value]
    if allowed and not all(any(_same(one, choice) for choice in allowed) for one in chosen):
        return f"must be one of: {', '.join(str(choice) for choice in allowed)}"
    size = value if isinstance(value, int | float) else len(value) if isinstance(value, str | list) else None
    if size is not None and not isinstance(value, bool):
        if field.low is not None and size < field.low:
            return f"must {_VERBS.get(field.type, 'be')} at least {field.low:g}{_UNITS.get(field.type, '')}"
        if field.high is not None and size > field.high:
            return f"must {_VERBS.get(field.type, 'be')} at most {field.high:g}{_UNITS.get(field.type, '')}"
    format_check = _FORMATS.get(field.format) if isinstance(value, str) else None
    return f"must be {format_check[0]}" if format_check and not format_check[1](str(value)) else None


def _same(value: object, choice: object) -> bool:
    return type(value) is type(choice) and value == choice


def _parses_with(read: Callable[[str], object]) -> Callable[[str], bool]:
    def parses(value: str) -> bool:
        try:
            return bool(read(value))
        except ValueError:
            return False

    return parses


_TYPE_CHECKS: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}
_VERBS = {"string": "have", "array": "have"}
_UNITS = {"string": " characters", "array": " items"}
_FORMATS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an e-mail address", lambda value: bool(_EMAIL.fullmatch(value))),
    "uri": ("an address with its scheme, like https://…", lambda value: bool(_URI.fullmatch(value))),
    "date": ("a date, like 2026-01-31", _parses_with(date.fromisoformat)),
    "date-time": ("a date with its time, like 2026-01-31T12:00:00Z", _parses_with(datetime.fromisoformat)),
}
"""Formats checked here; the MCP server checks every other one."""
