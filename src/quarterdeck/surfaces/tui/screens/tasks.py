"""The to-dos of every run, read from the feed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual import work
from textual.binding import Binding

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.lines.task_lines import (
    KINDS,
    RunTodo,
    RunTodos,
    task_lines,
    task_rows,
    todos_by_run,
)
from quarterdeck.surfaces.terminal.styled_text import StyledLine
from quarterdeck.surfaces.tui.screens.table_screen import TablePage

Json = dict[str, Any]
PAGE = 1_000
MAX_EVENTS = 5_000
"""Events read at most; older ones can be seen in the feed."""
FAR = 2**62
POLL_SECONDS = 2.0


class TasksPage(TablePage):
    """The to-dos of every agent, done ones too, the latest run first."""

    heading = "Tasks"
    columns = ("session", "run", "done", "", "to-do")
    empty = "No agent has made a list yet."
    row_actions = ("feed",)
    BINDINGS = [
        Binding("f", "feed", "its feed", tooltip="the feed of the session"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._events: list[Json] = []

    def on_mount(self) -> None:
        self.set_interval(POLL_SECONDS, self._read_newer)

    async def read(self) -> None:
        """Read the events page by page, the latest first, up to `MAX_EVENTS`."""
        events: list[Json] = []
        while len(events) < MAX_EVENTS:
            before = events[0]["seq_no"] if events else FAR
            page = await self.tui.daemon.get("/feed", kind=KINDS, before=before, limit=PAGE)
            older = [one for one in page["events"] if one["seq_no"] < before]
            if not older:
                break
            events = older + events
            self.set_subtitle(f"reading … {len(events):,}")
        self._events = events
        self._show_todos()

    @work(exclusive=True, group="read")
    async def _read_newer(self) -> None:
        """Read the events since the last one, and draw again if there are any."""
        last = self._events[-1]["seq_no"] if self._events else 0
        try:
            page = await self.tui.daemon.get("/feed", kind=KINDS, after=last, limit=PAGE)
        except QuarterdeckError:
            return
        if newer := [one for one in page["events"] if one["seq_no"] > last]:
            self._events = (self._events + newer)[-MAX_EVENTS:]
            self._show_todos()

    def _show_todos(self) -> None:
        runs = todos_by_run(self._events)
        names = {run.session_id: str(self.tui.model.name_of(run.session_id)) for run in runs}
        self.fill([(run, todo) for run in runs for todo in run.todos], task_rows(runs, names))

    def action_feed(self) -> None:
        if self.highlighted is not None:
            run, _ = self.highlighted
            self.dismiss(None)
            self.tui.main_screen.go_to_session(run.session_id)

    def lines(self, item: tuple[RunTodos, RunTodo]) -> Iterable[StyledLine]:
        run, todo = item
        session = self.tui.model.sessions.get(run.session_id)
        who = str(self.tui.model.name_of(run.session_id))
        return task_lines(run, todo, who, session.title if session else "", self.tui.clock())
