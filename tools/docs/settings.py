"""The settings, from their own types and descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from quarterdeck.config.settings import Section, sections
from quarterdeck.config.template import yaml_text
from tools.docs.tables import table

HEADS = ("key", "values", "default", "meaning")


def setting_tables() -> str:
    """A heading and a table for each section."""
    return "\n".join(
        f"### {name}\n\n{(kind.__doc__ or '').strip()}\n\n{table(HEADS, _rows(name, kind))}"
        for name, kind in sections()
    )


def _rows(name: str, kind: type[Section]) -> Iterator[tuple[str, str, str, str]]:
    for key, field in kind.model_fields.items():
        yield f"`{name}.{key}`", _values(field.annotation), f"`{yaml_text(field.default)}`", field.description or ""


def _values(kind: Any) -> str:
    """The values that a setting may have, in words."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    inner = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) is list:
        return f"a list: {_values(inner[0])}"
    if inner:
        return _values(inner[0])
    return {str: "text", int: "a whole number", float: "a number", bool: "`true`, `false`"}[kind]
