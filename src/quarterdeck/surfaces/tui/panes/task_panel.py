"""The to-dos of a run with their state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import Line, Span, line
from quarterdeck.surfaces.tui.widgets.text_view import Wall
from quarterdeck.surfaces.tui.widgets.titled_pane import Titled

Json = dict[str, Any]
MARKS = {"done": ("✓", "dim"), "doing": ("▸", "running"), "in_progress": ("▸", "running")}


def task_lines(session: Json) -> Iterator[Line]:
    """Each to-do on a line, with a sign for its state."""
    for todo in session["todos"]:
        glyph, style = MARKS.get(todo["status"], ("·", ""))
        yield line(Span(f"{glyph} ", style), Span(todo["text"], "dim" if todo["status"] == "done" else ""), indent=1)


def tally(session: Json) -> str:
    """How many are done, of how many."""
    todos = session["todos"]
    return f"{sum(todo['status'] == 'done' for todo in todos)}/{len(todos)}"


class Tasks(Wall, Titled):
    """The to-dos of the session that is looked at."""

    DEFAULT_CSS = "Tasks { display: none; } Tasks.-shown { display: block; }"

    def tell(self, session: Json | None, name: str) -> None:
        """Other to-dos, or none: then there is no panel."""
        self.set_class(bool(session and session["todos"]), "-shown")
        if session and session["todos"]:
            run = f" · run {session['runs']}" if session["runs"] else ""
            self.entitled(f"Tasks of {name}{run} · {tally(session)}")
            self.show(task_lines(session))
