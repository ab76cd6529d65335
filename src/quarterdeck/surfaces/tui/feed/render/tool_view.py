"""The view of a tool in the feed: its subject, its outcome, and all lines of its input and output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from quarterdeck.core.text.titles import subject_of
from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import size_words, text_lines
from quarterdeck.surfaces.tui.feed.render.json_values import readable_lines
from quarterdeck.views.code_colours import coloured

Input = dict[str, Any]


def text_in(value: Any, *keys: str) -> str:
    """The first of these fields that is a non-empty text."""
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


def part_of(value: Any, key: str) -> Any:
    """The field of an object; None if it has none, or is no object."""
    return value.get(key) if isinstance(value, dict) else None


def objects_in(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects in the list that is this field."""
    found = part_of(value, key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def first_line(text: str, role: str = "") -> Row:
    """The first line of an agent's text."""
    return next(text_lines(text, role))


def coloured_row(text: str, ending: str, ground: str = "") -> Row:
    """A line of code in its colours, on the ground of an added or a removed line."""
    return [TextSpan(part, f"{ground} {role}".strip()) for part, role in coloured(text, ending)]


def response_text(response: Any) -> str:
    """The text in a tool's response, in any of the usual shapes; empty if there is none."""
    if isinstance(response, str):
        return response
    parts = part_of(response, "content") if isinstance(response, dict) else response
    if isinstance(parts, list):
        texts = [text_in(part, "text") for part in parts[:100]]
        return "\n".join(text for text in texts if text)
    return text_in(response, "result", "stdout", "content", "text", "output", "message", "plan")


def lines_count(text: str) -> int:
    """The number of lines in a text."""
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)


def counted(number: int, word: str) -> str:
    """1 line, 2 lines."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}{'es' if word.endswith('ch') else 's'}"


def last_line(text: str) -> str:
    """The last line that is not blank, where commands print their result; reads only the end of the text."""
    for line in reversed(text[-2000:].splitlines()):
        if line.strip():
            return line.strip()
    return ""


def tail_lines(text: str, keep: int, role: str = "") -> Iterator[Row]:
    """The last `keep` lines of a text, below a line with the size of the rest."""
    start = len(text)
    for _ in range(keep + text.endswith("\n")):
        start = text.rfind("\n", 0, start)
        if start < 0:
            yield from text_lines(text.removesuffix("\n"), role)
            return
    above = text.count("\n", 0, start) + 1
    yield [TextSpan(f"… {counted(above, 'line')} above ({size_words(start)})", "dim")]
    yield from text_lines(text.removesuffix("\n"), role, start + 1)


def labelled(label: str, value: str, role: str = "") -> Row:
    """`pattern  def login`."""
    return [TextSpan(f"{label:<9} ", "label"), TextSpan(value, role)]


def field_lines(tool_input: Input) -> Iterator[Row]:
    """Input of an unknown shape: short texts by their names, everything else by its fields."""
    for key, value in tool_input.items():
        if isinstance(value, str) and "\n" not in value[:500] and len(value) <= 500:
            yield labelled(key[:40], value)
        elif isinstance(value, str):
            yield [TextSpan(f"{key[:40]}", "label"), TextSpan(f"  {size_words(len(value))}", "dim")]
            yield from ([TextSpan("  "), *line] for line in text_lines(value))
        else:
            yield from readable_lines({key: value})


def response_lines(tool_input: Input, response: Any) -> Iterator[Row]:
    """Output of any shape: its text, else all its fields."""
    text = response_text(response)
    yield from text_lines(text) if text else readable_lines(response) if response not in (None, {}, []) else iter(())


def short_outcome(tool_input: Input, response: Any) -> str:
    """The only line of the output, or how many it has."""
    text = response_text(response)
    return last_line(text) if lines_count(text) == 1 else counted(lines_count(text), "line") if text else ""


class ToolView(Struct, frozen=True, kw_only=True):
    """The view of one tool; by default that of a tool about which nothing is known. Its texts are the agent's, not yet
    made visible; both kinds of lines are lazy. `repeats_input`: the response repeats the input, so that one line of the
    input is enough. `compact`: the outcome is shown on the line of the call."""

    subject: Callable[[Input], str] = subject_of
    outcome: Callable[[Input, Any], str] = short_outcome
    input_lines: Callable[[Input], Iterator[Row]] = field_lines
    output_lines: Callable[[Input, Any], Iterator[Row]] = response_lines
    compact: bool = False
    repeats_input: Callable[[Any], bool] = lambda response: False
