"""What Claude Code shows in a terminal: the composer, and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_CONTROL = re.compile(
    r"\x1b\[([0-9;:]*)m"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\x1b\[[0-9;:?]*[A-Za-z]|[\x0e\x0f]"
)
RULE = "──"
PROMPTS = ("❯\xa0", "!\xa0")
"""The composer's own first letters; a prompt of the past has a plain blank there."""

PASTED = re.compile(r"\[Pasted text #\d+")
SHELL = "!"


class Cell(Struct, frozen=True, gc=False):
    """One letter on the screen. `dim` is how hints are written, `marked` is where the cursor is drawn."""

    letter: str
    dim: bool
    marked: bool


def composer(screen: str) -> str | None:
    """What stands in the composer, from a screen with its colours; empty when only a hint does. None when no composer
    is shown, as while a dialog is open."""
    lines = list(_lines(screen))
    texts = ["".join(cell.letter for cell in line) for line in lines]
    for at in range(len(texts) - 1, 0, -1):
        if texts[at].startswith(PROMPTS) and texts[at - 1].startswith(RULE):
            end = next((n for n in range(at + 1, len(texts)) if texts[n].startswith(RULE)), None)
            return None if end is None else _written(lines[at:end])
    return None


def holds(shown: str, text: str) -> bool:
    """Whether a composer shows this text, and nothing else: letter by letter, or folded because it is long."""
    return bool(PASTED.match(shown)) or _letters(shown) == _letters(text)


def _letters(text: str) -> str:
    """What every terminal draws alike."""
    return "".join(filter(str.isalnum, text))


def _written(lines: list[list[Cell]]) -> str:
    """The composer's text without hints. The first letter of a hint is where the cursor stands."""
    first, rest = lines[0], lines[1:]
    shell = SHELL if first[0].letter == SHELL else ""
    rows = [first[2:], *rest]
    cells = [cell for row in rows for cell in row if not cell.letter.isspace()]
    bright = [cell for cell in cells if not cell.dim]
    if len(bright) == 1 < len(cells) and bright[0].marked and cells[0] is bright[0]:
        return shell
    return shell + "\n".join("".join(c.letter for c in row if not c.dim).strip() for row in rows).strip()


def _lines(screen: str) -> Iterator[list[Cell]]:
    """The cells of each line; colours go on from one line to the next."""
    dim = marked = False
    for line in screen.split("\n"):
        cells: list[Cell] = []
        end = 0
        for found in _CONTROL.finditer(line):
            cells += [Cell(letter, dim, marked) for letter in line[end : found.start()]]
            dim, marked = _style(found[1], dim=dim, marked=marked)
            end = found.end()
        yield cells + [Cell(letter, dim, marked) for letter in line[end:]]


def _style(codes: str | None, *, dim: bool, marked: bool) -> tuple[bool, bool]:
    """How what follows is drawn. The numbers of a colour are none of ours."""
    if codes is None:
        return dim, marked
    numbers = iter(codes.split(";"))
    for number in numbers:
        if number in ("38", "48", "58"):
            for _ in range(1 if next(numbers, "") == "5" else 3):
                next(numbers, "")
        dim = number == "2" or (dim and number not in ("", "0", "22"))
        marked = number == "7" or (marked and number not in ("", "0", "27"))
    return dim, marked
