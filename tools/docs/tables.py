"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with a line for its heads and one for each row."""
    lines = [list(heads), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    """The text of a cell. Outside of code a `<` would begin a tag, which readers of Markdown drop."""
    escaped = re.sub(r"`[^`]*`|<", lambda match: match[0].replace("<", "&lt;") if match[0] == "<" else match[0], text)
    return escaped.replace("|", "\\|")
