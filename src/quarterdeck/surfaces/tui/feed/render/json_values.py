"""Any JSON value as lines, lazily: as JSON, or to be read; deep values are left out, long texts are cut in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import size_words, text_lines

MAX_DEPTH = 64
MAX_TEXT = 2000
MAX_READABLE_DEPTH = 6
"""Levels that are shown indented; what is deeper is shown as JSON."""


def value_lines(value: Any, indent: int = 0, lead: Row | None = None, tail: str = "") -> Iterator[Row]:
    """The value as indented JSON. Lazy: take as many lines as there is room for."""
    lead = lead or [TextSpan("  " * indent)]
    if not isinstance(value, dict | list) or not value:
        yield [*lead, *_scalar(value), TextSpan(tail, "punct")]
        return
    if indent >= MAX_DEPTH:
        yield [*lead, TextSpan("… deeper than 64 levels", "dim")]
        return
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    yield [*lead, TextSpan(opens, "punct")]
    last = len(value) - 1
    for n, (key, item) in enumerate(_items(value)):
        inner = [TextSpan("  " * (indent + 1))]
        if key is not None:
            inner += [*_text(key, "key"), TextSpan(": ", "punct")]
        yield from value_lines(item, indent + 1, inner, "," if n < last else "")
    yield [TextSpan("  " * indent + closes + tail, "punct")]


def readable_lines(value: Any, indent: int = 0) -> Iterator[Row]:
    """The value to be read: fields by their names in words, without quotes and brackets; what is empty is left out."""
    lead: Row = [TextSpan("  " * indent)]
    if indent >= MAX_READABLE_DEPTH:
        yield from value_lines(value, 0, lead)
    elif isinstance(value, dict | list):
        for key, item in _items(value):
            if item not in (None, "", [], {}):
                yield from _field_lines(key, item, indent)
    else:
        yield from ([*lead, *line] for line in text_lines(_words(value)))


def _field_lines(key: str | None, item: Any, indent: int) -> Iterator[Row]:
    name = "·" if key is None else f"{key[:40].replace('_', ' '):<9}"
    lead: Row = [TextSpan("  " * indent), TextSpan(f"{name} ", "label")]
    if isinstance(item, dict | list):
        if isinstance(item, list) and not any(isinstance(one, dict | list) for one in item[:200]) and len(item) <= 20:
            yield [*lead, TextSpan(", ".join(map(_words, item)).replace("\n", " "), "")]
            return
        yield lead
        yield from readable_lines(item, indent + 1)
        return
    lines = text_lines(_words(item))
    yield [*lead, *next(lines)]
    yield from ([TextSpan("  " * (indent + 1)), *line] for line in lines)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else {True: "yes", False: "no", None: "none"}.get(value, str(value))


def _items(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((None, item) for item in value)


def _scalar(value: Any) -> Row:
    if isinstance(value, str):
        return _text(value, "string")
    return [TextSpan(json.dumps(value), "number")]


def _text(text: str, role: str) -> Row:
    beginning = json.dumps(text[:MAX_TEXT], ensure_ascii=False)
    if len(text) <= MAX_TEXT:
        return [TextSpan(beginning, role)]
    more = TextSpan(f"… {size_words(len(text) - MAX_TEXT)} more", "more")
    return [TextSpan(beginning[:-1], role), more, TextSpan('"', role)]
