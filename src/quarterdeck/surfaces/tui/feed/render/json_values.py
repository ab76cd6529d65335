"""Any JSON value as lines, lazily: what is deep is named, what is long is cut with its size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words

DEEPEST = 64
LONGEST = 2000


def value_lines(value: Any, indent: int = 0, lead: Line | None = None, tail: str = "") -> Iterator[Line]:
    """The value as a person reads JSON; ask for as many lines as there is room for."""
    lead = lead or [("  " * indent, "")]
    if not isinstance(value, dict | list) or not value:
        yield [*lead, *_scalar(value), (tail, "punct")]
        return
    if indent >= DEEPEST:
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
    beginning = json.dumps(text[:LONGEST], ensure_ascii=False)
    if len(text) <= LONGEST:
        return [(beginning, role)]
    return [(beginning[:-1], role), (f"… {size_words(len(text) - LONGEST)} more", "more"), ('"', role)]
