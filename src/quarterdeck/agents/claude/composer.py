"""The composer on Claude Code's terminal screen, and the text in it."""

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
"""The composer's first characters; an earlier prompt has a plain space there."""

PASTED = re.compile(r"\[Pasted text #\d+")
FOLDED = re.compile(r"\[Pasted text #\d+( \+\d+ lines?)?\]")
SHELL = "!"


class Cell(Struct, frozen=True, gc=False):
    """One character on the screen. Hints are `dim`; `marked` is where the cursor is drawn."""

    letter: str
    dim: bool
    marked: bool


def composer_text(screen: str) -> str | None:
    """Text in the composer, read from a screen with its colours; empty when it shows only a hint. None when there is no
    composer, as while a dialog is open."""
    lines = list(_lines(screen))
    texts = ["".join(cell.letter for cell in line) for line in lines]
    for at in range(len(texts) - 1, 0, -1):  # from below: the conversation above may show a composer too
        if texts[at].startswith(PROMPTS) and texts[at - 1].startswith(RULE):
            end = next((n for n in range(at + 1, len(texts)) if texts[n].startswith(RULE)), None)
            return None if end is None else _typed_text(lines[at:end])
    return None


def is_folded(shown: str) -> bool:
    """True if the composer shows one pasted text, folded because it is long, and nothing else."""
    return bool(FOLDED.fullmatch(shown))


def shows_only(shown: str, text: str) -> bool:
    """True if the composer shows this text and nothing else: letter by letter, or folded because it is long."""
    return bool(PASTED.match(shown)) or _letters(shown) == _letters(text)


def _letters(text: str) -> str:
    """Letters and digits, which every terminal draws alike."""
    return "".join(filter(str.isalnum, text))


def _typed_text(lines: list[list[Cell]]) -> str:
    """The composer's text without hints. The cursor is drawn on the first letter of a hint, so that one is not dim."""
    first, rest = lines[0], lines[1:]
    shell = SHELL if first[0].letter == SHELL else ""
    rows = [first[2:], *rest]
    cells = [cell for row in rows for cell in row if not cell.letter.isspace()]
    bright = [cell for cell in cells if not cell.dim]
    if len(bright) == 1 < len(cells) and bright[0].marked and cells[0] is bright[0]:
        return shell
    return shell + "\n".join("".join(c.letter for c in row if not c.dim).strip() for row in rows).strip()


def _lines(screen: str) -> Iterator[list[Cell]]:
    """The cells of each line; colours continue on the next line."""
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
    """The style of the cells that follow. The numbers of a colour are skipped: they are no styles."""
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
