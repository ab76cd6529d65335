"""The to-dos of every run, as the feed tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from quarterdeck.errors import QuarterdeckError
from quarterdeck.surfaces.terminal.styled_text import Line, line
from quarterdeck.surfaces.text.labels import ago
from quarterdeck.surfaces.tui.panes.task_panel import MARKS
from quarterdeck.surfaces.tui.screens.run_todos import KINDS, RunTodos, Todo, todo_runs
from quarterdeck.surfaces.tui.screens.table_screen import TablePage
from quarterdeck.surfaces.tui.widgets.table import Cell, Grid

Json = dict[str, Any]
PAGE = 1_000
MOST = 5_000
"""Events that are read at most; older ones are left to the feed."""
FAR = 2**62
AGAIN_SECONDS = 2.0
STATES = {"done": "done", "doing": "at it", "in_progress": "at it", "open": "open", "blocked": "blocked"}


def task_rows(runs: Iterable[RunTodos], names: dict[str, str]) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """Each to-do on a row; who and which run stand where they begin."""
    session_id = ""
    for run in runs:
        head = names.get(run.session_id, run.session_id[:8]) if run.session_id != session_id else ""
        session_id = run.session_id
        place = run_name(run)
        for todo in run.todos:
            glyph, style = MARKS.get(todo.state, ("·", ""))
            words: Cell = (todo.words, "dim" if todo.state == "done" else "")
            done = run.tally if place else ""
            yield f"{run.run_id}/{todo.todo_id}", ((head, "strong"), place, (done, "dim"), (glyph, style), words)
            head = place = ""


def run_name(run: RunTodos) -> str:
    """A run by its number."""
    return f"run {run.number}" if run.number else "no run"


def task_lines(run: RunTodos, todo: Todo, who: str, title: str, now: float) -> Iterator[Line]:
    """One to-do, whole."""
    yield line((todo.text, "strong"))
    reason = f" ({todo.reason})" if todo.reason else ""
    yield line(f"{STATES.get(todo.state, todo.state)}{reason}", (f" · {ago(todo.at, now)}", "dim"))
    if todo.details:
        yield line(todo.details)
    yield line((f"{who} · {run_name(run)} · {title}", "dim"))


class TasksPage(TablePage):
    """What every agent has set out to do, the latest run first; done ones too."""

    heading = "Tasks"
    columns = ("session", "run", "done", "", "to-do")
    empty = "No agent has made a list yet."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "feed", "its feed", tooltip="the feed of the session"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._events: list[Json] = []
        self._found: dict[str, tuple[RunTodos, Todo]] = {}

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(AGAIN_SECONDS, self._go_on)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self._found) if action == "feed" else True

    def action_reload(self) -> None:
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        """Page by page, the latest first, up to a bound."""
        found: list[Json] = []
        try:
            while len(found) < MOST:
                before = found[0]["seq_no"] if found else FAR
                page = await self.face.talk.get("/feed", kind=KINDS, before=before, limit=PAGE)
                older = [one for one in page["events"] if one["seq_no"] < before]
                if not older:
                    break
                found = older + found
                self.name_it(f"reading … {len(found):,}")
        except QuarterdeckError as error:
            self.trouble(str(error))
            return
        self.trouble("")
        self._events = found
        self._tell()

    @work(exclusive=True, group="read")
    async def _go_on(self) -> None:
        """What has been told since."""
        last = self._events[-1]["seq_no"] if self._events else 0
        try:
            page = await self.face.talk.get("/feed", kind=KINDS, after=last, limit=PAGE)
        except QuarterdeckError:
            return
        if newer := [one for one in page["events"] if one["seq_no"] > last]:
            self._events = (self._events + newer)[-MOST:]
            self._tell()

    def _tell(self) -> None:
        runs = todo_runs(self._events)
        names = {run.session_id: str(self.face.model.name_of(run.session_id)) for run in runs}
        self._found = {f"{run.run_id}/{todo.todo_id}": (run, todo) for run in runs for todo in run.todos}
        self.fill(task_rows(runs, names))

    @property
    def _pointed(self) -> tuple[RunTodos, Todo] | None:
        return self._found.get(self.table.pointed or "")

    def action_feed(self) -> None:
        if (found := self._pointed) is not None:
            self.dismiss(None)
            self.face.bridge.look_at(found[0].session_id)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        if message.key in self._found:
            run, todo = self._found[message.key]
            session = self.face.model.sessions.get(run.session_id, {})
            who = str(self.face.model.name_of(run.session_id))
            self.tell_below(task_lines(run, todo, who, session.get("title", ""), self.face.clock()))
