"""Lines of styled text for a terminal: pure, bounded in work, and never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.cells import cell_len, get_character_cell_size

from quarterdeck.core.text.sanitize import visible

Piece = tuple[str, str]
"""A text and the role it plays; what a role looks like is up to the theme."""

Line = list[Piece]

MATCH = "match"


_MARK = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARKS = re.compile(f"({_MARK}{{4}}){_MARK}+")


def shown(text: str) -> str:
    """Visible, with blanks for tabs, and without towers of accents; lines stay."""
    text = visible(text).replace("\t", "    ")
    return text if text.isascii() else _MARKS.sub(r"\1…", text)


def plain(text: str) -> str:
    """Visible and on one line; quick for the text that nearly all text is."""
    return text if text.isascii() and text.isprintable() else shown(text).replace("\n", "⏎")


def brief(text: str, limit: int) -> str:
    """The beginning of a text on one line, with an ellipsis when there was more."""
    if len(text) <= limit:
        return plain(text)
    return plain(text[:limit]) + "…"


def middle(text: str, limit: int) -> str:
    """A text on one line, cut in the middle with its size: how it ends counts as much as how it begins."""
    if len(text) <= limit:
        return plain(text)
    half = (limit - 1) // 2
    return f"{plain(text[:half])}…{plain(text[-half:])} · {size_words(len(text))}"


def squeezed(text: str, width: int) -> str:
    """A visible line in at most `width` cells, cut in the middle."""
    if cells(text) <= width:
        return text
    half = max(width - 1, 0) // 2
    end = text[-half:] if half else ""
    while cells(end) > half:
        end = end[1:]
    return f"{text[: taken(text, max(width - 1, 0) - cells(end))]}…{end}"


def size_words(count: int) -> str:
    """A number of characters as a size: 812 B, 14 kB, 9.8 MB."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def seconds_words(seconds: float) -> str:
    """A duration in a few characters: 31 ms, 4.1 s, 4 m, 2 h."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    if seconds < 3599:
        return f"{seconds / 60:.0f} m"
    return f"{seconds / 3600:.0f} h"


def cells(text: str) -> int:
    """How many cells a visible text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(line: Iterable[Piece]) -> int:
    """How many cells a line takes."""
    return sum([cells(text) for text, _ in line])


def taken(text: str, width: int) -> int:
    """How many characters of a text fit in so many cells, with all that adds nothing to the last of them."""
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
            made.append((text[: taken(text, left)].rstrip() + "…", role))
            break
        made.append((text, role))
        left -= size
    return made


def spread(left: Line, right: Line, width: int) -> Line:
    """One line with something at its right end; the left gives way."""
    room = width - width_of(right) - 1
    if not right or room < 12:
        return fitted(left, width)
    left = fitted(left, room)
    return [*left, (" " * (width - width_of(left) - width_of(right)), ""), *right]


def wrapped(text: str, width: int, limit: int, aside: int = 0) -> list[str]:
    """The first `limit` lines of a text that is visible already, broken between words where that is possible; the first
    leaves `aside` cells to something else."""
    made: list[str] = []
    for line in text.split("\n", limit):
        for part in _broken(line.rstrip(), max(width, 8), 0 if made else aside):
            made.append(part)
            if len(made) == limit:
                return made
    return made


def _broken(line: str, width: int, aside: int) -> Iterator[str]:
    room = max(width - aside, 8)
    while True:
        head = line[: taken(line, room)]
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
    """Somebody else's text line by line, lazily, and as it is: see `seen`."""
    while start <= len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        yield [(text[start : stop - text.endswith("\r", start, stop)], role)]
        if end < 0:
            return
        start = end + 1


def seen(line: Line, longest: int) -> Line:
    """A line made visible; of a long one the beginning, and how much more there is. Work is bounded by `longest`."""
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
    """A long line as several of `width` cells."""
    now: Line = []
    left = width
    for text, role in line:
        while text:
            head = text[: taken(text, left)]
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
    """The line with every occurrence of a term, in whatever case, in the role of a match. Occurrences across two
    pieces are found, too."""
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
