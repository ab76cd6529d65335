"""The panel with the to-dos of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quarterdeck.surfaces.terminal.lines.task_lines import MARKS
from quarterdeck.surfaces.terminal.styled_text import StyledLine, TextSpan, line
from quarterdeck.surfaces.tui.widgets.text_view import TextView
from quarterdeck.surfaces.tui.widgets.titled_pane import TitledPane
from quarterdeck.views.resources.session_view import SessionView

Json = dict[str, Any]


def task_lines(session: SessionView) -> Iterator[StyledLine]:
    """One line for each to-do, with a mark for its state."""
    for todo in session.todos:
        glyph, style = MARKS.get(todo.status, ("·", ""))
        yield line(TextSpan(f"{glyph} ", style), TextSpan(todo.text, "dim" if todo.status == "done" else ""), indent=1)


def progress(session: SessionView) -> str:
    """Done and all to-dos, like `2/5`."""
    todos = session.todos
    return f"{sum(todo.status == 'done' for todo in todos)}/{len(todos)}"


class TaskPanel(TextView, TitledPane):
    """The to-dos of the session that is shown."""

    DEFAULT_CSS = "TaskPanel { display: none; } TaskPanel.-shown { display: block; }"

    def update(self, session: SessionView | None, name: str) -> None:
        """Show the session's to-dos; hide the panel when there are none."""
        self.set_class(bool(session and session.todos), "-shown")
        if session and session.todos:
            run = f" · run {session.runs}" if session.runs else ""
            self.set_title(f"Tasks of {name}{run} · {progress(session)}")
            self.show(task_lines(session))
