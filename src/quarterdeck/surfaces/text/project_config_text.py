"""A project's own config as lines, which every surface shows before it asks for trust; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from quarterdeck.core.text.sanitize import one_line

Json = dict[str, Any]
PARTS = (
    ("hooks", "Hooks, which run automatically:"),
    ("servers", "MCP servers, which sessions start:"),
    ("variables", "Environment variables:"),
    ("allows", "Allowed in Claude Code without asking:"),
    ("others", "Other settings:"),
)


class ConfigLine(NamedTuple):
    """A line, and its kind: a `head`, an `item`, a `trouble`, or plain `words`."""

    part: str
    text: str


def config_lines(config: Json) -> Iterator[ConfigLine]:
    """Every entry of a folder's config on a line, without control characters."""
    for part, heading in PARTS:
        entries = config[part]
        if entries:
            yield ConfigLine("head", heading)
        for entry in entries:
            yield ConfigLine("item", one_line(_item(part, entry)))
    for problem in config["troubles"]:
        yield ConfigLine("trouble", one_line(f"could not be read: {problem}"))
    if not any(config[part] for part, _ in PARTS) and not config["troubles"]:
        yield ConfigLine("words", "no hooks, MCP servers, variables or rules of its own")


def _item(part: str, entry: Json) -> str:
    file = f"  ({entry['file']})"
    if part == "hooks":
        matcher = f" {entry['matcher']}" if entry["matcher"] else ""
        return f"{entry['event']}{matcher}: {entry['runs']}{file}"
    if part == "servers":
        gets = f"  with {', '.join(entry['gets'])}" if entry["gets"] else ""
        return f"{entry['name']}: {entry['runs'] or entry['transport']}{gets}{file}"
    return f"{entry['name']}{': ' + entry['says'] if entry['says'] else ''}{file}"
