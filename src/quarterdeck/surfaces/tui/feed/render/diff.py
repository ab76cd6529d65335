"""The change of a text as a diff with syntax colours, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import size_words
from quarterdeck.surfaces.tui.feed.render.tool_view import coloured_row, count_in

MAX_COMPARED = 400
"""Lines on either side up to which they are compared; longer texts are shown as all removed and all added, without
colours."""

MAX_CHARS = 200_000
CONTEXT = 3


def _split(text: str) -> tuple[list[str], int]:
    """The first lines of a text, and the number of characters left out."""
    return text[:MAX_CHARS].splitlines(), max(0, len(text) - MAX_CHARS)


def diff_counts(old: str, new: str) -> tuple[int, int]:
    """The numbers of added and removed lines; long texts are not compared line by line."""
    if len(old) + len(new) > 20_000:
        return new.count("\n") + bool(new), old.count("\n") + bool(old)
    old_lines, new_lines = old.splitlines(), new.splitlines()
    while old_lines and new_lines and old_lines[-1] == new_lines[-1]:
        old_lines.pop()
        new_lines.pop()
    same = next(
        (n for n, (a, b) in enumerate(zip(old_lines, new_lines, strict=False)) if a != b),
        min(len(old_lines), len(new_lines)),
    )
    old_lines, new_lines = old_lines[same:], new_lines[same:]
    if not old_lines or not new_lines or len(old_lines) + len(new_lines) > 80:
        return len(new_lines), len(old_lines)
    kept = sum(size for _, _, size in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_matching_blocks())
    return len(new_lines) - kept, len(old_lines) - kept


def diff_lines(old: str, new: str, ending: str, first: int = 1) -> Iterator[Row]:
    """The change from one text to the other."""
    (old_lines, lost), (new_lines, more) = _split(old), _split(new)
    if len(old_lines) > MAX_COMPARED or len(new_lines) > MAX_COMPARED:
        yield from (_line("-", text, "", first + n) for n, text in enumerate(old_lines))
        yield from (_line("+", text, "", first + n) for n, text in enumerate(new_lines))
    else:
        yield from _compared(old_lines, new_lines, ending, first)
    if lost or more:
        yield [TextSpan(f"… {size_words(lost + more)} more", "dim")]


def _compared(old_lines: list[str], new_lines: list[str], ending: str, first: int) -> Iterator[Row]:
    groups = SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_grouped_opcodes(CONTEXT)
    for n, group in enumerate(groups):
        if n:
            yield [TextSpan("  ⋯", "dim")]
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", new_lines[j], ending, first + j) for j in range(j1, j2))
            else:
                yield from (_line("-", old_lines[i], ending, first + i) for i in range(i1, i2))
                yield from (_line("+", new_lines[j], ending, first + j) for j in range(j1, j2))


def patch_lines(hunks: list[Any], ending: str) -> Iterator[Row]:
    """The patch that an agent reports: hunks with the number of their first line and lines that begin with a sign."""
    for n, hunk in enumerate(hunks):
        if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
            continue
        if n:
            yield [TextSpan("  ⋯", "dim")]
        old, new = count_in(hunk, "oldStart") or 1, count_in(hunk, "newStart") or 1
        for line in hunk["lines"]:
            if not isinstance(line, str):
                continue
            sign = line[:1] if line[:1] in "+-" else " "
            yield _line(sign, line[1:], ending, old if sign == "-" else new)
            old += sign != "+"
            new += sign != "-"


def _line(sign: str, text: str, ending: str, number: int) -> Row:
    ground = {"+": "added", "-": "removed"}.get(sign, "")
    mark = TextSpan(f"{'−' if sign == '-' else sign} ", ground or "dim")
    return [TextSpan(f"{number:>5} ", "lineno"), mark, *coloured_row(text, ending, ground)]
