"""The to-dos of every run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from textual.app import ComposeResult

from quarterdeck.surfaces.tui.lines import Line, line
from quarterdeck.surfaces.tui.screens.page import PageScreen
from quarterdeck.surfaces.tui.tasks import tally, task_lines
from quarterdeck.surfaces.tui.wall import Wall
from quarterdeck.surfaces.words import project_of, state_word


def all_tasks(sessions: Iterable[dict[str, Any]]) -> Iterator[Line]:
    """Each session that has to-dos, with them below it."""
    for session in sessions:
        if session["todos"]:
            state = state_word(session["agent_state"])
            who = f"{project_of(session)} {tally(session)}"
            yield line((who, "strong"), (f"  {state.glyph} {state.word} · {session['title']}", "dim"))
            yield from task_lines(session)
            yield Line()


class TasksPage(PageScreen):
    """What every agent has set out to do."""

    heading = "Tasks"

    def inside(self) -> ComposeResult:
        yield Wall(classes="page", id="tasks-page")

    def on_mount(self) -> None:
        self.query_one(Wall).focus()
        self.set_interval(1.0, self.action_reload)
        self.call_after_refresh(self.action_reload)

    def action_reload(self) -> None:
        found = list(all_tasks(self.face.model.shown_sessions(ended=True)))
        self.query_one("#tasks-page", Wall).show(found or [line(("No agent has made a list yet.", "dim"))])
