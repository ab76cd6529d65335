"""What a project brings, in lines that every face shows before it asks for trust; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from quarterdeck.core.text.sanitize import one_line

Json = dict[str, Any]
SORTS = (
    ("hooks", "Hooks, which run by themselves:"),
    ("servers", "MCP servers, which sessions start:"),
    ("variables", "Variables that it sets:"),
    ("allows", "What Claude Code does there without asking:"),
    ("others", "Other settings:"),
)


class Told(NamedTuple):
    """A line, and its part: a `head`, an `item`, a `trouble`, or plain `words`."""

    part: str
    text: str


def brings_lines(brings: Json) -> Iterator[Told]:
    """Everything a folder brings, each thing on a line, harmless to show."""
    for sort, words in SORTS:
        found = brings[sort]
        if found:
            yield Told("head", words)
        for one in found:
            yield Told("item", one_line(_item(sort, one)))
    for words in brings["troubles"]:
        yield Told("trouble", one_line(f"not read: {words}"))
    if not any(brings[sort] for sort, _ in SORTS) and not brings["troubles"]:
        yield Told("words", "no hooks, MCP servers, variables or rules of its own")


def _item(sort: str, one: Json) -> str:
    file = f"  ({one['file']})"
    if sort == "hooks":
        matcher = f" {one['matcher']}" if one["matcher"] else ""
        return f"{one['event']}{matcher}: {one['runs']}{file}"
    if sort == "servers":
        gets = f"  with {', '.join(one['gets'])}" if one["gets"] else ""
        return f"{one['name']}: {one['runs'] or one['transport']}{gets}{file}"
    return f"{one['name']}{': ' + one['says'] if one['says'] else ''}{file}"
