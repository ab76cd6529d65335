"""To-dos, questions and plans: what an agent tells or asks a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.tui.feed.render.styled_pieces import Line, text_lines
from quarterdeck.surfaces.tui.feed.render.tool_view import Face, Input, said, text_in

MARKS = {"completed": ("✓", "ok"), "in_progress": ("▸", "warn")}


def _todos(given: Input) -> list[dict[str, Any]]:
    found = given.get("todos")
    return [todo for todo in found if isinstance(todo, dict)] if isinstance(found, list) else []


def _todo_subject(given: Input) -> str:
    todos = _todos(given)
    done = sum(text_in(todo, "status") == "completed" for todo in todos)
    now = next((text_in(t, "activeForm", "content") for t in todos if text_in(t, "status") == "in_progress"), "")
    return f"{done}/{len(todos)}{f'  {now}' if now else ''}"


def _todo_asked(given: Input) -> Iterator[Line]:
    for todo in _todos(given):
        glyph, role = MARKS.get(text_in(todo, "status"), ("·", "dim"))
        yield [(f"{glyph} ", role), *next(text_lines(text_in(todo, "content"), "dim" if role == "ok" else ""))]


def _questions(given: Input) -> list[dict[str, Any]]:
    found = given.get("questions")
    return [question for question in found if isinstance(question, dict)] if isinstance(found, list) else []


def _ask_subject(given: Input) -> str:
    questions = _questions(given)
    more = f"  (+{len(questions) - 1})" if len(questions) > 1 else ""
    return f"{text_in(questions[0], 'question')}{more}" if questions else ""


def _ask_asked(given: Input) -> Iterator[Line]:
    for question in _questions(given):
        yield [("? ", "ask"), *next(text_lines(text_in(question, "question"), "strong"))]
        options = question.get("options")
        for option in options if isinstance(options, list) else []:
            yield [("  ○ ", "dim"), *next(text_lines(text_in(option, "label"))), *_described(option)]


def _described(option: Any) -> Line:
    about = text_in(option, "description")
    return [("  ", ""), *next(text_lines(about, "dim"))] if about else []


def _answers(response: Any) -> dict[str, Any]:
    found = response.get("answers") if isinstance(response, dict) else None
    return found if isinstance(found, dict) else {}


def _ask_outcome(given: Input, response: Any) -> str:
    return ", ".join(str(answer)[:100] for answer in list(_answers(response).values())[:4]) or said(response)[:200]


def _ask_got(given: Input, response: Any) -> Iterator[Line]:
    for question, answer in _answers(response).items():
        yield [("✓ ", "ok"), (question, "dim"), ("  ", ""), (str(answer), "")]


def _nothing(given: Input, response: Any) -> Iterator[Line]:
    yield from ()


TODOS = Face(subject=_todo_subject, outcome=lambda given, got: "", asked=_todo_asked, got=_nothing, compact=True)
ASKS = Face(subject=_ask_subject, outcome=_ask_outcome, asked=_ask_asked, got=_ask_got)
PLAN = Face(
    subject=lambda given: text_in(given, "plan").strip().partition("\n")[0],
    outcome=lambda given, got: "",
    asked=lambda given: text_lines(text_in(given, "plan")),
    got=_nothing,
    compact=True,
)
