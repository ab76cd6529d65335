"""The views of to-dos, questions and plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from quarterdeck.surfaces.terminal.styled_text import Row, TextSpan
from quarterdeck.surfaces.tui.feed.render.cut_text import text_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import (
    Input,
    ToolView,
    first_line,
    objects_in,
    part_of,
    response_text,
    text_in,
)

MARKS = {"completed": ("✓", "ok"), "in_progress": ("▸", "warn")}


def _todo_subject(tool_input: Input) -> str:
    todos = objects_in(tool_input, "todos")
    done = sum(text_in(todo, "status") == "completed" for todo in todos)
    now = next((text_in(t, "activeForm", "content") for t in todos if text_in(t, "status") == "in_progress"), "")
    return f"{done}/{len(todos)}{f'  {now}' if now else ''}"


def _todo_input(tool_input: Input) -> Iterator[Row]:
    for todo in objects_in(tool_input, "todos"):
        glyph, role = MARKS.get(text_in(todo, "status"), ("·", "dim"))
        yield [TextSpan(f"{glyph} ", role), *first_line(text_in(todo, "content"), "dim" if role == "ok" else "")]


def _question_subject(tool_input: Input) -> str:
    questions = objects_in(tool_input, "questions")
    more = f"  (+{len(questions) - 1})" if len(questions) > 1 else ""
    return f"{text_in(questions[0], 'question')}{more}" if questions else ""


def _question_input(tool_input: Input) -> Iterator[Row]:
    for question in objects_in(tool_input, "questions"):
        yield [TextSpan("? ", "ask"), *first_line(text_in(question, "question"), "strong")]
        options = question.get("options")
        for option in options if isinstance(options, list) else []:
            yield [TextSpan("  ○ ", "dim"), *first_line(text_in(option, "label")), *_described(option)]


def _described(option: Any) -> Row:
    about = text_in(option, "description")
    return [TextSpan("  "), *first_line(about, "dim")] if about else []


def _answers(response: Any) -> dict[str, Any]:
    found = part_of(response, "answers")
    return found if isinstance(found, dict) else {}


def _question_outcome(tool_input: Input, response: Any) -> str:
    return (
        ", ".join(str(answer)[:100] for answer in list(_answers(response).values())[:4])
        or response_text(response)[:200]
    )


def _question_output(tool_input: Input, response: Any) -> Iterator[Row]:
    for question, answer in _answers(response).items():
        yield [TextSpan("✓ ", "ok"), TextSpan(question, "dim"), TextSpan("  "), TextSpan(str(answer))]


_SILENT = ToolView(outcome=lambda tool_input, response: "", output_lines=lambda tool_input, response: iter(()))
"""A tool whose response says nothing."""

TODOS = replace(_SILENT, subject=_todo_subject, input_lines=_todo_input, compact=True)
QUESTIONS = ToolView(
    subject=_question_subject, outcome=_question_outcome, input_lines=_question_input, output_lines=_question_output
)
PLAN = replace(
    _SILENT,
    subject=lambda tool_input: text_in(tool_input, "plan").strip().partition("\n")[0],
    input_lines=lambda tool_input: text_lines(text_in(tool_input, "plan")),
    compact=True,
)
