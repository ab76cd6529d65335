"""Styled text as plain values: spans, lines, and how they fold into rows of a given width."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from quarterdeck.core.text.sanitize import UNSEEN, one_line, visible

BLOCK = 4096
"""Characters that are folded at a time, so that a line of megabytes never takes the loop for long."""


class Span(NamedTuple):
    """Text with the name of its style; `click` is the action it stands for."""

    text: str
    style: str = ""
    click: str = ""


class Line(NamedTuple):
    """One line. What is `exact` is folded wherever the width ends; other text is folded between words, and what goes
    on below begins `hang` cells further in."""

    spans: tuple[Span, ...] = ()
    indent: int = 0
    exact: bool = False
    hang: int = 0


Row = tuple[Span, ...]


def line(*parts: Span | tuple[str, str] | str, indent: int = 0, hang: int = 0) -> Line:
    """A line of words of our own or from outside, each made harmless."""
    spans = (Span(*part) if isinstance(part, tuple) else Span(part) for part in parts)
    return Line(tuple(Span(one_line(s.text), s.style, s.click) for s in spans if s.text), indent, hang=hang)


def exact_lines(text: str, style: str = "", indent: int = 2, prefix: str = "") -> Iterator[Line]:
    """Text from outside as it is: every line a line, everything that hides made visible."""
    for part in text.split("\n"):
        for start in range(0, max(len(part), 1), BLOCK):
            shown = visible(part[start : start + BLOCK]).replace("\t", "    ")
            yield Line((Span(prefix + shown, style),), indent, True)


def unseen_in(text: str) -> int:
    """How many characters of a text do not show by themselves."""
    return len(UNSEEN.findall(text))


def fold(lines: Iterable[Line], width: int) -> Iterator[Row]:
    """Rows of at most `width` cells."""
    for one in lines:
        yield from fold_line(one, width)


def fold_line(one: Line, width: int) -> Iterator[Row]:
    """The rows of one line; there is always one."""
    text = "".join(span.text for span in one.spans)
    room = max(8, width - one.indent)
    pad = (Span(" " * one.indent),) if one.indent else ()
    if len(text) <= room and cell_len(text) <= room:
        yield (*pad, *one.spans)
        return
    start, hang = 0, min(one.hang, room // 2)
    for length in _exact(text, room) if one.exact else _words(text, room, room - hang):
        further = (Span(" " * hang),) if start and hang else ()
        yield (*pad, *further, *_slice(one.spans, start, start + length))
        start += length


def _exact(text: str, room: int) -> Iterator[int]:
    if text.isascii() and text.isprintable():
        yield from (min(room, len(text) - at) for at in range(0, len(text), room))
    else:
        yield from map(len, chop_cells(text, room))


def _words(text: str, first: int, room: int) -> Iterator[int]:
    """Lengths of pieces that end between words where they can; the first may be longer than the others."""
    for piece in _greedy(text.split(" "), first, room):
        if cell_len(piece.rstrip(" ")) <= first:
            yield len(piece)
        else:
            yield from map(len, chop_cells(piece, room))
        first = room


def _greedy(words: list[str], first: int, room: int) -> Iterator[str]:
    piece = words[0]
    for word in words[1:]:
        if cell_len(piece) + 1 + cell_len(word) <= first:
            piece += " " + word
        else:
            yield piece + " "
            piece, first = word, room
    yield piece


def _slice(spans: tuple[Span, ...], start: int, end: int) -> Iterator[Span]:
    at = 0
    for span in spans:
        cut = span.text[max(0, start - at) : max(0, end - at)]
        if cut:
            yield Span(cut, span.style, span.click)
        at += len(span.text)


def plain(rows: Iterable[Row]) -> str:
    """Rows as text."""
    return "\n".join("".join(span.text for span in row).rstrip() for row in rows)
