"""The to-dos of each run: folded from the feed, as rows, and all of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from quarterdeck.surfaces.terminal.styled_text import Cell, StyledLine, TableRows, line
from quarterdeck.surfaces.text.labels import ago

Json = dict[str, Any]
KINDS = ("todo.add", "todo.update", "todo.done")
MARKS = {"done": ("✓", "dim"), "doing": ("▸", "running"), "in_progress": ("▸", "running")}
STATES = {"done": "done", "doing": "in progress", "in_progress": "in progress", "open": "open", "blocked": "blocked"}


class RunTodo(Struct, frozen=True, kw_only=True):
    """One to-do. `at`: when it last changed."""

    todo_id: str
    text: str
    state: str
    at: float
    details: str = ""
    reason: str = ""

    @property
    def label(self) -> str:
        """The to-do in one line."""
        return f"{self.text} ({self.reason})" if self.reason else self.text


class RunTodos(Struct, frozen=True, kw_only=True):
    """The to-dos of a run, as they were at its end or are now."""

    session_id: str
    run_id: str
    last_seq: int
    todos: tuple[RunTodo, ...]

    @property
    def number(self) -> int:
        """The number of the run in its session; 0 for to-dos outside any run."""
        digits = self.run_id.rpartition(":R")[2]
        return int(digits) if digits.isdecimal() else 0

    @property
    def progress(self) -> str:
        """Done and all to-dos, like `2/5`."""
        return f"{sum(todo.state == 'done' for todo in self.todos)}/{len(self.todos)}"


def todos_by_run(events: Iterable[Json]) -> list[RunTodos]:
    """Every run that changed a to-do, grouped by session, the latest change and the latest run first. Open to-dos move
    on to the session's next run that changes one; done to-dos stay with the run that finished them."""
    runs: dict[str, RunTodos] = {}
    latest: dict[str, str] = {}
    for event in events:
        run_id, session_id = event["run_id"], event["session_id"]
        if run_id not in runs:
            before = runs.get(latest.get(session_id, ""))
            carried = tuple(todo for todo in before.todos if todo.state != "done") if before else ()
            runs[run_id] = RunTodos(session_id=session_id, run_id=run_id, last_seq=0, todos=carried)
        latest[session_id] = run_id
        run = runs[run_id]
        runs[run_id] = replace(run, todos=_apply(run.todos, event), last_seq=event["seq_no"])
    latest_seq = {session_id: runs[run_id].last_seq for session_id, run_id in latest.items()}
    return sorted(
        (run for run in runs.values() if run.todos),
        key=lambda run: (-latest_seq[run.session_id], run.session_id, -run.last_seq),
    )


def _apply(todos: tuple[RunTodo, ...], event: Json) -> tuple[RunTodo, ...]:
    """The to-dos after one more event. A to-do whose first event was not read is shown by its id."""
    data, at = event["data"], event["at"]
    known = next((todo for todo in todos if todo.todo_id == data["todo_id"]), None)
    todo = known or RunTodo(todo_id=data["todo_id"], text=data["todo_id"], state="open", at=at)
    match event["kind"]:
        case "todo.add":
            todo = replace(todo, text=data["text"], details=data.get("details") or "", state="open", reason="", at=at)
        case "todo.update":
            patch = data["patch"]
            todo = replace(todo, text=str(patch.get("text", todo.text)), state=str(patch.get("status", todo.state)))
            todo = replace(todo, at=at)
        case _:
            todo = replace(todo, state="done", reason=data.get("reason") or "", at=at)
    return (*todos, todo) if known is None else tuple(todo if one is known else one for one in todos)


def task_rows(runs: Iterable[RunTodos], names: dict[str, str]) -> TableRows:
    """One row for each to-do; session and run are named in their first row only."""
    session_id = ""
    for run in runs:
        head = names.get(run.session_id, run.session_id[:8]) if run.session_id != session_id else ""
        session_id = run.session_id
        place = run_name(run)
        for todo in run.todos:
            glyph, style = MARKS.get(todo.state, ("·", ""))
            words: Cell = (todo.label, "dim" if todo.state == "done" else "")
            done = run.progress if place else ""
            yield f"{run.run_id}/{todo.todo_id}", ((head, "strong"), place, (done, "dim"), (glyph, style), words)
            head = place = ""


def run_name(run: RunTodos) -> str:
    """The name of a run."""
    return f"run {run.number}" if run.number else "no run"


def task_lines(run: RunTodos, todo: RunTodo, who: str, title: str, now: float) -> Iterator[StyledLine]:
    """All of one to-do."""
    yield line((todo.text, "strong"))
    reason = f" ({todo.reason})" if todo.reason else ""
    yield line(f"{STATES.get(todo.state, todo.state)}{reason}", (f" · {ago(todo.at, now)}", "dim"))
    if todo.details:
        yield line(todo.details)
    yield line((f"{who} · {run_name(run)} · {title}", "dim"))
