"""Agent text made visible and cut to the room it has: pure, bounded in work, and never markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quarterdeck.core.text.sanitize import visible
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan, cells, chars_in, row_text

MATCH = "match"

_MARK = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARKS = re.compile(f"({_MARK}{{4}}){_MARK}+")


def visible_text(text: str) -> str:
    """The text made visible, with spaces for tabs and without stacked accents; line breaks stay."""
    text = visible(text).replace("\t", "    ")
    return text if text.isascii() else _MARKS.sub(r"\1…", text)


def plain(text: str) -> str:
    """The text made visible on one line. Printable ASCII, which nearly all text is, is returned at once."""
    return text if text.isascii() and text.isprintable() else visible_text(text).replace("\n", "⏎")


def brief(text: str, limit: int) -> str:
    """The beginning of a text on one line, with an ellipsis when there was more."""
    if len(text) <= limit:
        return plain(text)
    return plain(text[:limit]) + "…"


def middle(text: str, limit: int) -> str:
    """A text on one line, cut in the middle with its size: its end matters as much as its beginning."""
    if len(text) <= limit:
        return plain(text)
    half = (limit - 1) // 2
    return f"{plain(text[:half])}…{plain(text[-half:])} · {size_words(len(text))}"


def cut_middle(text: str, width: int) -> str:
    """A visible line in at most `width` cells, cut in the middle."""
    if cells(text) <= width:
        return text
    half = max(width - 1, 0) // 2
    end = text[-half:] if half else ""
    while cells(end) > half:
        end = end[1:]
    return f"{text[: chars_in(text, max(width - 1, 0) - cells(end))]}…{end}"


def size_words(count: int) -> str:
    """A number of characters as a size: 812 B, 14 kB, 9.8 MB."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def width_of(line: Row) -> int:
    """The cells of a line."""
    return sum([cells(span.text) for span in line])


def fitted(line: Row, width: int) -> Row:
    """The line in at most `width` cells; what is cut ends in an ellipsis."""
    if width_of(line) <= width:
        return line
    made: list[TextSpan] = []
    left = max(width, 1) - 1
    for span in line:
        size = cells(span.text)
        if size > left:
            made.append(TextSpan(span.text[: chars_in(span.text, left)].rstrip() + "…", span.style))
            break
        made.append(span)
        left -= size
    return made


def spread(left: Row, right: Row, width: int) -> Row:
    """One line with `right` at its right end; `left` is cut if both do not fit."""
    room = width - width_of(right) - 1
    if not right or room < 12:
        return fitted(left, width)
    left = fitted(left, room)
    return [*left, TextSpan(" " * (width - width_of(left) - width_of(right)), ""), *right]


def wrapped(text: str, width: int, limit: int, aside: int = 0) -> list[str]:
    """The first `limit` lines of a visible text, broken between words where possible; the first leaves `aside` cells
    free."""
    made: list[str] = []
    for line in text.split("\n", limit):
        for part in _broken_lines(line.rstrip(), max(width, 8), 0 if made else aside):
            made.append(part)
            if len(made) == limit:
                return made
    return made


def _broken_lines(line: str, width: int, aside: int) -> Iterator[str]:
    room = max(width - aside, 8)
    while True:
        head = line[: chars_in(line, room)]
        if len(head) == len(line):
            yield line
            return
        at = head.rfind(" ")
        if line[len(head)] == " ":
            at = len(head)
        cut = at if at > room // 3 else max(len(head), 1)
        yield line[:cut].rstrip()
        line, room = line[cut:].lstrip(" "), width


def text_lines(text: str, role: str = "", start: int = 0) -> Iterator[Row]:
    """An agent's text line by line, lazily and unchanged: `visible_line` makes each line visible."""
    while start <= len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        yield [TextSpan(text[start : stop - text.endswith("\r", start, stop)], role)]
        if end < 0:
            return
        start = end + 1


def visible_line(line: Row, longest: int) -> Row:
    """A line made visible; of a long line the beginning and the size of the rest. The work is bounded by `longest`."""
    made: list[TextSpan] = []
    left = longest
    for span in line:
        made.append(TextSpan(plain(span.text[:left]), span.style))
        left -= len(span.text)
        if left < 0:
            more = sum(len(each.text) for each in line) - longest
            return [*made, TextSpan(f"… {size_words(more)} more in this line", "more")]
    return made


def highlighted(line: Row, term: str) -> Row:
    """The line with every occurrence of a term, in any case, in the role of a match; also those across two pieces."""
    if not term:
        return line
    whole = row_text(line).lower()
    matches = list(_matches(whole, term.lower()))
    if not matches or len(whole) != sum(len(span.text) for span in line):
        return line
    made: list[TextSpan] = []
    place = 0
    for span in line:
        made += _marked(span, place, matches)
        place += len(span.text)
    return made


def _matches(whole: str, term: str) -> Iterator[tuple[int, int]]:
    at = whole.find(term)
    while at >= 0:
        yield at, at + len(term)
        at = whole.find(term, at + len(term))


def _marked(span: TextSpan, place: int, matches: list[tuple[int, int]]) -> Iterator[TextSpan]:
    text, done = span.text, 0
    for start, stop in matches:
        low, high = max(start - place, done), min(stop - place, len(text))
        if low >= high:
            continue
        if low > done:
            yield TextSpan(text[done:low], span.style)
        yield TextSpan(text[low:high], MATCH)
        done = high
    if done < len(text):
        yield TextSpan(text[done:], span.style)
