"""What a tool must say of itself to be shown: about what, with what outcome, and everything line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, size_words, text_lines

Input = dict[str, Any]


class Face(Struct, frozen=True, kw_only=True):
    """How one tool is shown. The texts are as the agent gave them: whoever shows them makes them visible. `asked`
    and `got` yield lines lazily; where what came `retells` what was asked, only the first of its lines is needed. A
    `compact` tool says its outcome on the line of the call."""

    subject: Callable[[Input], str]
    outcome: Callable[[Input, Any], str]
    asked: Callable[[Input], Iterator[Line]]
    got: Callable[[Input, Any], Iterator[Line]]
    compact: bool = False
    retells: Callable[[Any], bool] = lambda response: False


def text_in(value: Any, *keys: str) -> str:
    """The first of these fields that is a text with something in it."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found:
                return found
    return ""


def count_in(value: Any, *keys: str) -> int | None:
    """The first of these fields that is a number."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, int) and not isinstance(found, bool):
                return found
    return None


def said(response: Any) -> str:
    """The text in a tool's response, in whichever of the usual shapes it comes; empty when there is none."""
    if isinstance(response, str):
        return response
    parts = response.get("content") if isinstance(response, dict) else response
    if isinstance(parts, list):
        texts = [text_in(part, "text") for part in parts[:100]]
        return "\n".join(text for text in texts if text)
    return text_in(response, "result", "stdout", "content", "text", "output", "message", "plan")


def lines_count(text: str) -> int:
    """How many lines a text has."""
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)


def counted(number: int, word: str) -> str:
    """1 line, 2 lines."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}{'es' if word.endswith('ch') else 's'}"


def last_line(text: str) -> str:
    """The last line with something in it, which is where commands say what came of them; looks at the end only."""
    for line in reversed(text[-2000:].splitlines()):
        if line.strip():
            return line.strip()
    return ""


def tail_lines(text: str, keep: int, role: str = "") -> Iterator[Line]:
    """The end of a text: its last `keep` lines, and a word how much stands above them."""
    start = len(text)
    for _ in range(keep + text.endswith("\n")):
        start = text.rfind("\n", 0, start)
        if start < 0:
            yield from text_lines(text.removesuffix("\n"), role)
            return
    above = text.count("\n", 0, start) + 1
    yield [(f"… {counted(above, 'line')} above ({size_words(start)})", "dim")]
    yield from text_lines(text.removesuffix("\n"), role, start + 1)


def labelled(label: str, value: str, role: str = "") -> Line:
    """`pattern  def login`."""
    return [(f"{label:<9} ", "label"), (value, role)]
