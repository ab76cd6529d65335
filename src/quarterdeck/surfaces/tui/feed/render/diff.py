"""A change of a text as a diff with syntax colours, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words
from quarterdeck.surfaces.tui.feed.render.syntax import coloured
from quarterdeck.surfaces.tui.feed.render.tool_view import count_in

COMPARED = 400
"""Lines on either side that are compared; longer changes are shown as all removed and all added, without colours."""

CHARS = 200_000
CONTEXT = 3


def _split(text: str) -> tuple[list[str], int]:
    """The lines of a text, of a huge one those at its beginning, and how many characters that leaves out."""
    return text[:CHARS].splitlines(), max(0, len(text) - CHARS)


def diff_counts(old: str, new: str) -> tuple[int, int]:
    """How many lines are added and removed; what is long is not compared line by line."""
    if len(old) + len(new) > 20_000:
        return new.count("\n") + bool(new), old.count("\n") + bool(old)
    ours, theirs = old.splitlines(), new.splitlines()
    while ours and theirs and ours[-1] == theirs[-1]:
        ours.pop()
        theirs.pop()
    same = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    ours, theirs = ours[same:], theirs[same:]
    if not ours or not theirs or len(ours) + len(theirs) > 80:
        return len(theirs), len(ours)
    kept = sum(size for _, _, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks())
    return len(theirs) - kept, len(ours) - kept


def diff_lines(old: str, new: str, ending: str, first: int = 1) -> Iterator[Line]:
    """The change from one text to the other."""
    (ours, lost), (theirs, more) = _split(old), _split(new)
    if len(ours) > COMPARED or len(theirs) > COMPARED:
        yield from (_line("-", text, "", first + n) for n, text in enumerate(ours))
        yield from (_line("+", text, "", first + n) for n, text in enumerate(theirs))
    else:
        yield from _compared(ours, theirs, ending, first)
    if lost or more:
        yield [(f"… {size_words(lost + more)} more", "dim")]


def _compared(ours: list[str], theirs: list[str], ending: str, first: int) -> Iterator[Line]:
    groups = SequenceMatcher(None, ours, theirs, autojunk=False).get_grouped_opcodes(CONTEXT)
    for n, group in enumerate(groups):
        if n:
            yield [("  ⋯", "dim")]
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", theirs[j], ending, first + j) for j in range(j1, j2))
            else:
                yield from (_line("-", ours[i], ending, first + i) for i in range(i1, i2))
                yield from (_line("+", theirs[j], ending, first + j) for j in range(j1, j2))


def patch_lines(hunks: list[Any], ending: str) -> Iterator[Line]:
    """The patch that an agent reports: hunks with the number of their first line and lines that begin with a sign."""
    for n, hunk in enumerate(hunks):
        if not isinstance(hunk, dict) or not isinstance(hunk.get("lines"), list):
            continue
        if n:
            yield [("  ⋯", "dim")]
        old, new = count_in(hunk, "oldStart") or 1, count_in(hunk, "newStart") or 1
        for line in hunk["lines"]:
            if not isinstance(line, str):
                continue
            sign = line[:1] if line[:1] in "+-" else " "
            yield _line(sign, line[1:], ending, old if sign == "-" else new)
            old += sign != "+"
            new += sign != "-"


def _line(sign: str, text: str, ending: str, number: int) -> Line:
    ground = {"+": "added", "-": "removed"}.get(sign, "")
    body = coloured(text, ending)
    if ground:
        body = [(part, f"{ground} {role}".rstrip()) for part, role in body]
    return [(f"{number:>5} ", "lineno"), (f"{'−' if sign == '-' else sign} ", ground or "dim"), *body]
