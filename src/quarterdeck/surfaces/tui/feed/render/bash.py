"""Commands: what was run, its exit, and how its output ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, text_lines
from quarterdeck.surfaces.tui.feed.render.syntax import LINES, coloured
from quarterdeck.surfaces.tui.feed.render.tool_view import Face, Input, last_line, said, tail_lines, text_in

TAIL = 40
_EXIT = re.compile(r"Exit code (\d{1,5})")


def _asked(given: Input) -> Iterator[Line]:
    command = text_in(given, "command")
    for n, line in enumerate(text_lines(command)):
        yield [("$ " if n == 0 else "  ", "prompt"), *coloured(line[0][0], ".sh" if n < LINES else "")]
    if text_in(given, "description"):
        yield [("# ", "comment"), *next(text_lines(text_in(given, "description"), "comment"))]


def _outcome(given: Input, response: Any) -> str:
    if isinstance(response, dict) and response.get("interrupted") is True:
        return "interrupted"
    if text_in(response, "backgroundTaskId"):
        return "runs in the background"
    return last_line(text_in(response, "stdout")) or last_line(text_in(response, "stderr")) or last_line(said(response))


def _got(given: Input, response: Any) -> Iterator[Line]:
    stdout, stderr = text_in(response, "stdout") or said(response), text_in(response, "stderr")
    if stdout:
        yield from tail_lines(stdout, TAIL)
    if stderr:
        yield [("stderr", "label")]
        yield from tail_lines(stderr, TAIL, "warn")
    if not stdout and not stderr:
        yield [("no output", "dim")]


def exit_of(error: str) -> str:
    """`exit 3` for an error that says so."""
    found = _EXIT.match(error)
    return f"exit {found[1]}" if found else ""


BASH = Face(subject=lambda given: text_in(given, "command"), outcome=_outcome, asked=_asked, got=_got)
OUTPUT = Face(
    subject=lambda given: text_in(given, "task_id", "bash_id", "shell_id"), outcome=_outcome, asked=_asked, got=_got
)
