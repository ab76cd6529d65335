"""The words of a validator as a sentence for a person: what the field must be, and what it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from quarterdeck.core.model.payload import ID

TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""JSON types by the validator's names for them."""

PATTERNS = {
    r"^/[^\0]*\Z": "an absolute path",
    rf"^{ID.pattern}\Z": "1 to 128 characters of A-Z a-z 0-9 _ . : -",
    r"^https?://[^\0\s]+\Z": "an http or https address",
    r"^[^-\x00-\x1f][^\x00-\x1f]*\Z": "text without control characters that does not begin with -",
    r"^[A-Za-z0-9_.-]([A-Za-z0-9_. -]*[A-Za-z0-9_.-])?\Z": "letters, digits, spaces and _ . -",
    r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z": "1 to 64 letters, digits, _ and -, beginning with a letter or digit",
}
"""What the patterns of the API demand."""
AS_WRITTEN = {repr(pattern): words for pattern, words in PATTERNS.items()}


class FieldProblem(NamedTuple):
    """The field that is wrong, as a path like `rules[0].effect`, and what is wrong with it."""

    field: str | None
    words: str

    def __str__(self) -> str:
        return f"{self.field}: {self.words}" if self.field else self.words


def field_problem(message: str, hints: Mapping[str, Any], key: str = "") -> FieldProblem:
    """The problem that a validator's message names. `hints` are the types of all fields, and `key` is the place when
    the message has none."""
    sentence, _, place = message.partition(" - at `$")
    path = place.strip("`").lstrip(".") or key
    if parameter := re.match(r"Missing required query parameter '([^']+)'", sentence):
        return FieldProblem(parameter[1], "is required")
    if missing := re.fullmatch(r"Object (missing required|contains unknown) field `(.+)`", sentence):
        inside = path if path != missing[2] and not path.endswith(f".{missing[2]}") else path.rpartition(".")[0]
        words = "is required" if missing[1].startswith("missing") else "is not a known field"
        return FieldProblem(f"{inside}.{missing[2]}".lstrip("."), words)
    return FieldProblem(path or None, _words(sentence, hints, path))


def _words(sentence: str, hints: Mapping[str, Any], path: str) -> str:
    if value := re.fullmatch(r"Invalid enum value (.+)", sentence):
        *words, last = choices(hints, path) or ["another value"]
        known = f"{', '.join(words)} or {last}" if words else last
        return f"must be {known}, is {value[1]}"
    if limit := re.fullmatch(r"Expected `(?:int|float)[^`]*` (>=|<=|>|<) (\S+)", sentence):
        return f"must be {_LIMITS[limit[1]]} {limit[2]}"
    if length := re.fullmatch(r"Expected `(\w+)[^`]*` of length (>=|<=) (\d+)", sentence):
        return _length(length[1], length[2], int(length[3]))
    if pattern := re.fullmatch(r"Expected `str[^`]*` matching regex (.+)", sentence):
        return f"must be {AS_WRITTEN.get(pattern[1], 'written without special characters')}"
    if types := re.fullmatch(r"Expected `([^`]+)`(?:, got `([^`]+)`)?", sentence):
        is_fraction = types[1].startswith("int") and types[2] == "float"
        got = f", is {_type_words(types[2])}" if types[2] and not is_fraction else ""
        return f"must be {_type_words(types[1])}{got}"
    return sentence


_LIMITS = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}


def _length(kind: str, sign: str, count: int) -> str:
    if sign == ">=" and count == 1:
        return "must not be empty"
    unit = {"str": "characters", "array": "entries"}.get(kind, "fields")
    return f"must have {_LIMITS[sign]} {count:,} {unit}"


def _type_words(types: str) -> str:
    """`int | null` in words; that a field may also be null is left out."""
    names = types.split(" | ")
    named = [TYPES.get(name, name) for name in names if name != "null" or len(names) == 1]
    return " or ".join(named)


def choices(hints: Mapping[str, Any], path: str) -> list[str]:
    """The valid values of the field at a path; empty when it is no choice."""
    kind: Any = None
    for name in re.findall(r"[^.\[\]]+", path):
        if not name.isdigit() and name != "...":
            kind = plain_type(hints.get(name))
        while get_origin(kind) is list:
            kind = plain_type(get_args(kind)[0])
        hints = get_type_hints(kind) if isinstance(kind, type) and issubclass(kind, Struct) else {}
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    return [str(one.value) for one in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def plain_type(hint: Any) -> Any:
    """A type without its annotations, and without null."""
    while get_origin(hint) in (Annotated, Union, UnionType):
        args = [one for one in get_args(hint) if one is not type(None)]
        hint = args[0]
    return hint
