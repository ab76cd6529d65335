"""Any JSON value as lines, lazily: as JSON, or to be read; deep values are left out, long texts are cut in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words, text_lines

MAX_DEPTH = 64
MAX_TEXT = 2000
MAX_READABLE_DEPTH = 6
"""Levels that are shown indented; what is deeper is shown as JSON."""


def value_lines(value: Any, indent: int = 0, lead: Line | None = None, tail: str = "") -> Iterator[Line]:
    """The value as indented JSON. Lazy: take as many lines as there is room for."""
    lead = lead or [("  " * indent, "")]
    if not isinstance(value, dict | list) or not value:
        yield [*lead, *_scalar(value), (tail, "punct")]
        return
    if indent >= MAX_DEPTH:
        yield [*lead, ("… deeper than 64 levels", "dim")]
        return
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    yield [*lead, (opens, "punct")]
    last = len(value) - 1
    for n, (key, item) in enumerate(_items(value)):
        inner: Line = [("  " * (indent + 1), "")]
        if key is not None:
            inner += [*_text(key, "key"), (": ", "punct")]
        yield from value_lines(item, indent + 1, inner, "," if n < last else "")
    yield [("  " * indent + closes + tail, "punct")]


def readable_lines(value: Any, indent: int = 0) -> Iterator[Line]:
    """The value to be read: fields by their names in words, without quotes and brackets; what is empty is left out."""
    lead: Line = [("  " * indent, "")]
    if indent >= MAX_READABLE_DEPTH:
        yield from value_lines(value, 0, lead)
    elif isinstance(value, dict | list):
        for key, item in _items(value):
            if item not in (None, "", [], {}):
                yield from _field_lines(key, item, indent)
    else:
        yield from ([*lead, *line] for line in text_lines(_words(value)))


def _field_lines(key: str | None, item: Any, indent: int) -> Iterator[Line]:
    name = "·" if key is None else f"{key[:40].replace('_', ' '):<9}"
    lead: Line = [("  " * indent, ""), (f"{name} ", "label")]
    if isinstance(item, dict | list):
        if isinstance(item, list) and not any(isinstance(one, dict | list) for one in item[:200]) and len(item) <= 20:
            yield [*lead, (", ".join(map(_words, item)).replace("\n", " "), "")]
            return
        yield lead
        yield from readable_lines(item, indent + 1)
        return
    lines = text_lines(_words(item))
    yield [*lead, *next(lines)]
    yield from ([("  " * (indent + 1), ""), *line] for line in lines)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else {True: "yes", False: "no", None: "none"}.get(value, str(value))


def _items(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((None, item) for item in value)


def _scalar(value: Any) -> Line:
    if isinstance(value, str):
        return _text(value, "string")
    return [(json.dumps(value), "number")]


def _text(text: str, role: str) -> Line:
    beginning = json.dumps(text[:MAX_TEXT], ensure_ascii=False)
    if len(text) <= MAX_TEXT:
        return [(beginning, role)]
    return [(beginning[:-1], role), (f"… {size_words(len(text) - MAX_TEXT)} more", "more"), ('"', role)]
