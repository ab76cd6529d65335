"""The to-dos of each run, folded from the feed; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

Json = dict[str, Any]
KINDS = ("todo.add", "todo.update", "todo.done")


class Todo(Struct, frozen=True, kw_only=True):
    """One thing to do, and since when it stands so."""

    todo_id: str
    text: str
    state: str
    at: float
    details: str = ""
    reason: str = ""

    @property
    def words(self) -> str:
        """What is shown of it in a line."""
        return f"{self.text} ({self.reason})" if self.reason else self.text


class RunTodos(Struct, frozen=True, kw_only=True):
    """The list of a run as it stood at its end, or as it stands."""

    session_id: str
    run_id: str
    last_seq: int
    todos: tuple[Todo, ...]

    @property
    def number(self) -> int:
        """Which run of its session; 0 for what happened outside any."""
        digits = self.run_id.rpartition(":R")[2]
        return int(digits) if digits.isdecimal() else 0

    @property
    def tally(self) -> str:
        """How many are done, of how many."""
        return f"{sum(todo.state == 'done' for todo in self.todos)}/{len(self.todos)}"


def todo_runs(events: Iterable[Json]) -> list[RunTodos]:
    """Every run that said something of a list, grouped by session: who spoke last first, the latest run first. What was
    still open goes on into the next run that speaks of the list; what was done stays with the run that did it."""
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
        runs[run_id] = replace(run, todos=_after(run.todos, event), last_seq=event["seq_no"])
    spoke = {session_id: runs[run_id].last_seq for session_id, run_id in latest.items()}
    return sorted(
        (run for run in runs.values() if run.todos),
        key=lambda run: (-spoke[run.session_id], run.session_id, -run.last_seq),
    )


def _after(todos: tuple[Todo, ...], event: Json) -> tuple[Todo, ...]:
    """A list after one more word about it; one whose beginning was not read is called by its id."""
    data, at = event["data"], event["at"]
    known = next((todo for todo in todos if todo.todo_id == data["todo_id"]), None)
    todo = known or Todo(todo_id=data["todo_id"], text=data["todo_id"], state="open", at=at)
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
