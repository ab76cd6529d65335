"""Lines of styled text for a terminal: pure, bounded in work, and never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, get_character_cell_size

from quarterdeck.core.text.sanitize import visible

Piece = tuple[str, str]
"""A text and its role; the theme decides the style of a role."""

Line = list[Piece]

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


def cells(text: str) -> int:
    """The cells of a visible text."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(line: Iterable[Piece]) -> int:
    """The cells of a line."""
    return sum([cells(text) for text, _ in line])


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


def fitted(line: Line, width: int) -> Line:
    """The line in at most `width` cells; what is cut ends in an ellipsis."""
    if width_of(line) <= width:
        return line
    made: Line = []
    left = max(width, 1) - 1
    for text, role in line:
        size = cells(text)
        if size > left:
            made.append((text[: chars_in(text, left)].rstrip() + "…", role))
            break
        made.append((text, role))
        left -= size
    return made


def spread(left: Line, right: Line, width: int) -> Line:
    """One line with `right` at its right end; `left` is cut if both do not fit."""
    room = width - width_of(right) - 1
    if not right or room < 12:
        return fitted(left, width)
    left = fitted(left, room)
    return [*left, (" " * (width - width_of(left) - width_of(right)), ""), *right]


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


def text_lines(text: str, role: str = "", start: int = 0) -> Iterator[Line]:
    """An agent's text line by line, lazily and unchanged: `visible_line` makes each line visible."""
    while start <= len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        yield [(text[start : stop - text.endswith("\r", start, stop)], role)]
        if end < 0:
            return
        start = end + 1


def visible_line(line: Line, longest: int) -> Line:
    """A line made visible; of a long line the beginning and the size of the rest. The work is bounded by `longest`."""
    made: Line = []
    left = longest
    for text, role in line:
        made.append((plain(text[:left]), role))
        left -= len(text)
        if left < 0:
            more = sum(len(text) for text, _ in line) - longest
            return [*made, (f"… {size_words(more)} more in this line", "more")]
    return made


def folded(line: Line, width: int) -> Iterator[Line]:
    """A long line as several lines of `width` cells."""
    now: Line = []
    left = width
    for text, role in line:
        while text:
            head = text[: chars_in(text, left)]
            if head:
                now.append((head, role))
                left -= cells(head)
                text = text[len(head) :]
            if text:
                yield now
                now, left = [], width
    if now or not line or left == width:
        yield now


def highlighted(line: Line, term: str) -> Line:
    """The line with every occurrence of a term, in any case, in the role of a match; also those across two pieces."""
    if not term:
        return line
    whole = "".join(text for text, _ in line).lower()
    spans = list(_spans(whole, term.lower()))
    if not spans or len(whole) != sum(len(text) for text, _ in line):
        return line
    made: Line = []
    place = 0
    for text, role in line:
        made += _marked(text, role, place, spans)
        place += len(text)
    return made


def _spans(whole: str, term: str) -> Iterator[tuple[int, int]]:
    at = whole.find(term)
    while at >= 0:
        yield at, at + len(term)
        at = whole.find(term, at + len(term))


def _marked(text: str, role: str, place: int, spans: list[tuple[int, int]]) -> Iterator[Piece]:
    done = 0
    for start, stop in spans:
        low, high = max(start - place, done), min(stop - place, len(text))
        if low >= high:
            continue
        if low > done:
            yield text[done:low], role
        yield text[low:high], MATCH
        done = high
    if done < len(text):
        yield text[done:], role
