"""Styled text as plain values: spans, lines, and their folding into rows of a given width; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from rich.cells import cell_len, get_character_cell_size

from quarterdeck.core.text.sanitize import UNSEEN, one_line, visible

BLOCK = 4096
"""Characters that are folded at a time, so that a line of megabytes never blocks the loop for long."""


class TextSpan(Struct, frozen=True, gc=False):
    """Text with the name of its style; `click` is the action that a click on it runs. A struct, because the feed makes
    dozens of them for every line that it draws: a named tuple takes five times as long."""

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


Row = Sequence[TextSpan]
Cell = str | tuple[str, str]
"""A cell of a table: a text, or a text with the name of its style."""

TableRows = Iterable[tuple[str, tuple[Cell, ...]]]
"""The rows of a table, each with its key."""


def line(*parts: TextSpan | tuple[str, str] | str, indent: int = 0, hang: int = 0) -> StyledLine:
    """A line of texts, from Quarterdeck or from outside; each is made harmless."""
    spans = (part if isinstance(part, TextSpan) else _span(part) for part in parts)
    return StyledLine(tuple(TextSpan(one_line(s.text), s.style, s.click) for s in spans if s.text), indent, hang=hang)


def _span(cell: Cell) -> TextSpan:
    return TextSpan(cell) if isinstance(cell, str) else TextSpan(*cell)


def exact_lines(text: str, style: str = "", indent: int = 2, prefix: str = "") -> Iterator[StyledLine]:
    """Text from outside, exactly: each line as a line, hidden characters made visible."""
    for part in text.split("\n"):
        for start in range(0, max(len(part), 1), BLOCK):
            shown = visible(part[start : start + BLOCK]).replace("\t", "    ")
            yield StyledLine((TextSpan(prefix + shown, style),), indent, True, goes_on=start + BLOCK < len(part))


def hidden_count(text: str) -> int:
    """The number of hidden characters in a text."""
    return len(UNSEEN.findall(text))


def cells(text: str) -> int:
    """The cells of a visible text."""
    return len(text) if text.isascii() else cell_len(text)


def chars_in(text: str, width: int) -> int:
    """The number of characters that fit in `width` cells, with all zero-width ones that follow the last of them."""
    if text.isascii():
        return min(width, len(text))
    used = 0
    for n, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > width:
            return n
    return len(text)


def fold(lines: Iterable[StyledLine], width: int) -> Iterator[Row]:
    """The rows of these lines, each at most `width` cells wide."""
    for styled in lines:
        yield from fold_line(styled, width)


def fold_line(one: StyledLine, width: int) -> Iterator[Row]:
    """The rows of one line; at least one."""
    text = row_text(one.spans)
    room = max(8, width - one.indent)
    pad = (TextSpan(" " * one.indent),) if one.indent else ()
    if len(text) <= room and cells(text) <= room:
        yield (*pad, *one.spans)
        return
    if one.exact:
        yield from ((*pad, *row) for row in fold_spans(one.spans, room))
        return
    start, hang = 0, min(one.hang, room // 2)
    for length in _words(text, room, room - hang):
        further = (TextSpan(" " * hang),) if start and hang else ()
        yield (*pad, *further, *_slice(one.spans, start, start + length))
        start += length


def fold_spans(spans: Row, width: int) -> Iterator[Row]:
    """The rows of an exact line, filled to the last cell; at least one."""
    row: list[TextSpan] = []
    left = width
    for span in spans:
        for start in range(0, len(span.text), BLOCK):  # cutting rows off a text of megabytes would copy it each time
            text = span.text[start : start + BLOCK]
            while text:
                head = text[: chars_in(text, left)]
                if head:
                    row.append(TextSpan(head, span.style, span.click))
                    left -= cells(head)
                    text = text[len(head) :]
                if text:
                    yield row
                    row, left = [], width
    if row or not spans or left == width:
        yield row


def _words(text: str, first: int, room: int) -> Iterator[int]:
    """The lengths of pieces that end between words where they can; the first may be longer than the others."""
    for piece in _greedy(text.split(" "), first, room):
        if cells(piece.rstrip(" ")) <= first:
            yield len(piece)
        else:
            yield from (len(row_text(row)) for row in fold_spans((TextSpan(piece),), room))
        first = room


def _greedy(words: list[str], first: int, room: int) -> Iterator[str]:
    piece = words[0]
    for word in words[1:]:
        if cells(piece) + 1 + cells(word) <= first:
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


def row_text(row: Row) -> str:
    """The text of a row, without styles."""
    return "".join(span.text for span in row)


def plain(rows: Iterable[Row]) -> str:
    """The text of rows, without styles."""
    return "\n".join(row_text(row).rstrip() for row in rows)
