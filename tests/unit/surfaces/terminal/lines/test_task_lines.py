"""The to-dos of every run, folded from the feed."""

from __future__ import annotations

from typing import Any

from quarterdeck.surfaces.terminal.lines.task_lines import task_rows, todos_by_run
from quarterdeck.surfaces.terminal.styled_text import plain
from quarterdeck.surfaces.tui.screens.tasks import TasksPage
from quarterdeck.surfaces.tui.widgets.table import table_rows
from tests.support.recorded_daemon import Json, event


def todo_event(seq_no: int, kind: str, todo_id: str, run: int = 1, session_id: str = "s1", **data: Any) -> Json:
    """An event about a to-do, in a run."""
    return event(seq_no, kind, "", session_id, todo_id=todo_id, **data) | {"run_id": f"{session_id}:R{run}"}


STORY = [
    todo_event(1, "todo.add", "1", text="find the route"),
    todo_event(2, "todo.add", "2", text="add the limiter"),
    todo_event(3, "todo.done", "1"),
    todo_event(4, "todo.add", "x", session_id="other", text="write docs"),
    todo_event(5, "todo.add", "3", run=2, text="open a PR", details="against main"),
    todo_event(6, "todo.update", "2", run=2, patch={"status": "doing"}),
]


def test_done_to_dos_stay_with_their_run_and_open_ones_move_on() -> None:
    runs = [(run.run_id, run.progress, [(t.text, t.state) for t in run.todos]) for run in todos_by_run(STORY)]
    assert runs == [
        ("s1:R2", "0/2", [("add the limiter", "doing"), ("open a PR", "open")]),
        ("s1:R1", "1/2", [("find the route", "done"), ("add the limiter", "open")]),
        ("other:R1", "0/1", [("write docs", "open")]),
    ]


def test_a_removed_to_do_says_so_and_one_without_a_first_event_shows_its_id() -> None:
    [run] = todos_by_run([todo_event(7, "todo.done", "swab the deck", run=0, reason="removed")])
    assert [todo.label for todo in run.todos] == ["swab the deck (removed)"]
    assert (run.number, run.progress) == (0, "1/1")
    changed = [todo_event(1, "todo.add", "1", text="a"), todo_event(2, "todo.update", "1", patch={"text": "b"})]
    assert todos_by_run(changed)[0].todos[0].text == "b"


def test_session_and_run_are_named_in_their_first_row() -> None:
    rows = [cells for _, cells in task_rows(todos_by_run(STORY), {"s1": "shop"})]
    assert plain(table_rows(TasksPage.columns, rows)).splitlines() == [
        " session  run    done     to-do",
        " shop     run 2  0/2   ▸  add the limiter",
        "                       ·  open a PR",
        "          run 1  1/2   ✓  find the route",
        "                       ·  add the limiter",
        " other    run 1  0/1   ·  write docs",
    ]
