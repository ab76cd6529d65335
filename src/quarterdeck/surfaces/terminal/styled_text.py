"""Styled text as plain values: spans, lines, and their folding into rows of a given width; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from quarterdeck.core.text.sanitize import UNSEEN, one_line, visible

BLOCK = 4096
"""Characters that are folded at a time, so that a line of megabytes never blocks the loop for long."""


class TextSpan(NamedTuple):
    """Text with the name of its style; `click` is the action that a click on it runs."""

    text: str
    style: str = ""
    click: str = ""


class StyledLine(NamedTuple):
    """One line. An `exact` one is folded wherever the width ends; any other between words, with its further rows
    indented by `hang` more cells. One that `goes_on` is a part of a long line, which the next one continues."""

    spans: tuple[TextSpan, ...] = ()
    indent: int = 0
    exact: bool = False
    hang: int = 0
    goes_on: bool = False


Row = tuple[TextSpan, ...]
Cell = str | tuple[str, str]
"""A cell of a table: a text, or a text with the name of its style."""

TableRows = Iterable[tuple[str, tuple[Cell, ...]]]
"""The rows of a table, each with its key."""


def line(*parts: TextSpan | tuple[str, str] | str, indent: int = 0, hang: int = 0) -> StyledLine:
    """A line of texts, from Quarterdeck or from outside; each is made harmless."""
    spans = (TextSpan(*part) if isinstance(part, tuple) else TextSpan(part) for part in parts)
    return StyledLine(tuple(TextSpan(one_line(s.text), s.style, s.click) for s in spans if s.text), indent, hang=hang)


def exact_lines(text: str, style: str = "", indent: int = 2, prefix: str = "") -> Iterator[StyledLine]:
    """Text from outside, exactly: each line as a line, hidden characters made visible."""
    for part in text.split("\n"):
        for start in range(0, max(len(part), 1), BLOCK):
            shown = visible(part[start : start + BLOCK]).replace("\t", "    ")
            yield StyledLine((TextSpan(prefix + shown, style),), indent, True, goes_on=start + BLOCK < len(part))


def hidden_count(text: str) -> int:
    """The number of hidden characters in a text."""
    return len(UNSEEN.findall(text))


def fold(lines: Iterable[StyledLine], width: int) -> Iterator[Row]:
    """The rows of these lines, each at most `width` cells wide."""
    for styled in lines:
        yield from fold_line(styled, width)


def fold_line(one: StyledLine, width: int) -> Iterator[Row]:
    """The rows of one line; at least one."""
    text = "".join(span.text for span in one.spans)
    room = max(8, width - one.indent)
    pad = (TextSpan(" " * one.indent),) if one.indent else ()
    if len(text) <= room and cell_len(text) <= room:
        yield (*pad, *one.spans)
        return
    start, hang = 0, min(one.hang, room // 2)
    for length in _exact(text, room) if one.exact else _words(text, room, room - hang):
        further = (TextSpan(" " * hang),) if start and hang else ()
        yield (*pad, *further, *_slice(one.spans, start, start + length))
        start += length


def _exact(text: str, room: int) -> Iterator[int]:
    if text.isascii() and text.isprintable():
        yield from (min(room, len(text) - at) for at in range(0, len(text), room))
    else:
        yield from map(len, chop_cells(text, room))


def _words(text: str, first: int, room: int) -> Iterator[int]:
    """The lengths of pieces that end between words where they can; the first may be longer than the others."""
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


def _slice(spans: tuple[TextSpan, ...], start: int, end: int) -> Iterator[TextSpan]:
    at = 0
    for span in spans:
        cut = span.text[max(0, start - at) : max(0, end - at)]
        if cut:
            yield TextSpan(cut, span.style, span.click)
        at += len(span.text)


def plain(rows: Iterable[Row]) -> str:
    """The text of rows, without styles."""
    return "\n".join("".join(span.text for span in row).rstrip() for row in rows)
