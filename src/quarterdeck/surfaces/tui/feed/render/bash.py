"""The views of shell tools: the command, its outcome, and the end of its output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import text_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Input,
    ToolView,
    coloured_row,
    first_line,
    last_line,
    part_of,
    response_text,
    tail_lines,
    text_in,
)
from quarterdeck.views.code_colours import LINES

TAIL = 40
_EXIT = re.compile(r"Exit code (\d{1,5})")


def _input_lines(tool_input: Input) -> Iterator[Row]:
    command = text_in(tool_input, "command")
    for n, line in enumerate(text_lines(command)):
        yield [TextSpan("$ " if n == 0 else "  ", "prompt"), *coloured_row(line[0].text, ".sh" if n < LINES else "")]
    if text_in(tool_input, "description"):
        yield [TextSpan("# ", "comment"), *first_line(text_in(tool_input, "description"), "comment")]


def _outcome(tool_input: Input, response: Any) -> str:
    if part_of(response, "interrupted") is True:
        return "interrupted"
    if text_in(response, "backgroundTaskId"):
        return "runs in the background"
    texts = text_in(response, "stdout"), text_in(response, "stderr"), response_text(response)
    return next(filter(None, map(last_line, texts)), "")


def _output_lines(tool_input: Input, response: Any) -> Iterator[Row]:
    stdout, stderr = text_in(response, "stdout") or response_text(response), text_in(response, "stderr")
    if stdout:
        yield from tail_lines(stdout, TAIL)
    if stderr:
        yield [TextSpan("stderr", "label")]
        yield from tail_lines(stderr, TAIL, "warn")
    if not stdout and not stderr:
        yield [TextSpan("no output", "dim")]


def exit_of(error: str) -> str:
    """`exit 3` for an error that says so."""
    found = _EXIT.match(error)
    return f"exit {found[1]}" if found else ""


BASH = ToolView(
    subject=lambda tool_input: text_in(tool_input, "command"),
    outcome=_outcome,
    input_lines=_input_lines,
    output_lines=_output_lines,
)
OUTPUT = replace(BASH, subject=lambda tool_input: text_in(tool_input, "task_id", "bash_id", "shell_id"))
