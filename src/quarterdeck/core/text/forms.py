"""Forms that MCP servers ask a person to fill in: flat objects of plain fields, read from their JSON schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from msgspec import Struct

from quarterdeck.core.model.payload import flag, items, maybe_text, number, obj, text

LIMITS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
WORDS = {"string": "text", "number": "number", "integer": "whole number", "boolean": "yes or no", "array": "list"}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


class Field(Struct, frozen=True, kw_only=True):
    """One field. `choices` are the values it takes, if only some, each with its title; `low` and `high` limit a number,
    the length of a text or of a list."""

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


def fields_of(schema: dict[str, Any]) -> list[Field]:
    """The fields of a form, in its order. What the schema says in no known way is not checked: its server does that."""
    required = items(schema, "required")
    found = obj(schema, "properties").items()
    return [_field(name, shape, name in required) for name, shape in found if isinstance(shape, dict)]


def _field(name: str, shape: dict[str, Any], required: bool) -> Field:
    kind = text(shape, "type", "any")
    low, high = LIMITS.get(kind, ("minimum", "maximum"))
    return Field(
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
    """A list of values, with their titles beside them; or alternatives that hold one value each."""
    values, names = items(shape, "enum"), items(shape, "enumNames")
    if values:
        titles = names if len(names) == len(values) else values
        return tuple((value, str(title)) for value, title in zip(values, titles, strict=True))
    ways = [way for way in (items(shape, "oneOf") or items(shape, "anyOf")) if isinstance(way, dict)]
    return tuple((way["const"], maybe_text(way, "title") or str(way["const"])) for way in ways if "const" in way)


def misfilled(schema: dict[str, Any], content: dict[str, Any]) -> tuple[str, str] | None:
    """The first field that is not as the form wants it, and what is wrong with it; None when all is well."""
    fields = {field.name: field for field in fields_of(schema)}
    for name in content:
        if fields and name not in fields and not flag(schema, "additionalProperties"):
            return name, f"is no field of the form; it has {', '.join(fields)}"
    for name, field in fields.items():
        if name not in content and field.required:
            return name, "is missing, and the form needs it"
        problem = misfit(field, content[name]) if name in content else None
        if problem:
            return name, problem
    return None


def misfit(field: Field, value: object) -> str | None:
    """Why a field does not take a value; None when it does."""
    right = _RIGHT.get(field.type)
    if right and not right(value):
        return f"must be a {WORDS[field.type]}"
    taken = [choice for choice, _ in field.choices]
    chosen = value if isinstance(value, list) else [value]
    if taken and not all(any(_same(one, choice) for choice in taken) for one in chosen):
        return f"must be of: {', '.join(str(choice) for choice in taken)}"
    size = value if isinstance(value, int | float) else len(value) if isinstance(value, str | list) else None
    if size is not None and not isinstance(value, bool):
        if field.low is not None and size < field.low:
            return f"must {_HAVE.get(field.type, 'be')} at least {field.low:g}{_UNITS.get(field.type, '')}"
        if field.high is not None and size > field.high:
            return f"must {_HAVE.get(field.type, 'be')} at most {field.high:g}{_UNITS.get(field.type, '')}"
    form = _FORMATS.get(field.format) if isinstance(value, str) else None
    return f"must be {form[0]}" if form and not form[1](str(value)) else None


def _same(value: object, choice: object) -> bool:
    return type(value) is type(choice) and value == choice


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    def holds(value: str) -> bool:
        try:
            return bool(read(value))
        except ValueError:
            return False

    return holds


_RIGHT: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}
_HAVE = {"string": "have", "array": "have"}
_UNITS = {"string": " characters", "array": " items"}
_FORMATS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an e-mail address", lambda value: bool(_EMAIL.fullmatch(value))),
    "uri": ("an address with its scheme, like https://…", lambda value: bool(_URI.fullmatch(value))),
    "date": ("a date, like 2026-01-31", _reads(date.fromisoformat)),
    "date-time": ("a date with its time, like 2026-01-31T12:00:00Z", _reads(datetime.fromisoformat)),
}
"""Formats that a form may name; every other is left to its server."""
