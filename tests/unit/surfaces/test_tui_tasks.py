"""The to-dos of every run, folded from the feed and shown on a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quarterdeck.surfaces.terminal.styled_text import plain
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.screens.run_todos import KINDS, todo_runs
from quarterdeck.surfaces.tui.screens.tasks import PAGE, TasksPage, task_rows
from quarterdeck.surfaces.tui.widgets.table import laid_out
from tests.support.pilot import Face
from tests.support.tui import NOW, Json, RecordedTalk, connected, event, session, snapshot


def said(seq_no: int, kind: str, todo_id: str, run: int = 1, session_id: str = "s1", **data: Any) -> Json:
    """An event about a list, in a run."""
    return event(seq_no, kind, "", session_id, todo_id=todo_id, **data) | {"run_id": f"{session_id}:R{run}"}


STORY = [
    said(1, "todo.add", "1", text="find the route"),
    said(2, "todo.add", "2", text="add the limiter"),
    said(3, "todo.done", "1"),
    said(4, "todo.add", "x", session_id="other", text="write docs"),
    said(5, "todo.add", "3", run=2, text="open a PR", details="against main"),
    said(6, "todo.update", "2", run=2, patch={"status": "doing"}),
]


def test_a_run_keeps_what_it_did_and_hands_on_what_is_open() -> None:
    told = [(run.run_id, run.tally, [(t.text, t.state) for t in run.todos]) for run in todo_runs(STORY)]
    assert told == [
        ("s1:R2", "0/2", [("add the limiter", "doing"), ("open a PR", "open")]),
        ("s1:R1", "1/2", [("find the route", "done"), ("add the limiter", "open")]),
        ("other:R1", "0/1", [("write docs", "open")]),
    ]


def test_what_left_a_list_says_so_and_what_was_not_read_from_its_beginning_is_called_by_its_id() -> None:
    [run] = todo_runs([said(7, "todo.done", "swab the deck", run=0, reason="removed")])
    assert [todo.words for todo in run.todos] == ["swab the deck (removed)"]
    assert (run.number, run.tally) == (0, "1/1")
    changed = [said(1, "todo.add", "1", text="a"), said(2, "todo.update", "1", patch={"text": "b"})]
    assert todo_runs(changed)[0].todos[0].text == "b"


def test_session_and_run_stand_where_they_begin() -> None:
    rows = [cells for _, cells in task_rows(todo_runs(STORY), {"s1": "shop"})]
    assert plain(laid_out(TasksPage.columns, rows)).splitlines() == [
        " session  run    done     to-do",
        " shop     run 2  0/2   ▸  add the limiter",
        "                       ·  open a PR",
        "          run 1  1/2   ✓  find the route",
        "                       ·  add the limiter",
        " other    run 1  0/1   ·  write docs",
    ]


class PagedFeed(RecordedTalk):
    """A daemon whose feed is longer than a page."""

    events = [said(n, "todo.add", str(n), text=f"task {n}") for n in range(1, PAGE + 500)]

    async def get(self, path: str, /, **query: Any) -> Json:
        if path != "/feed":
            return await super().get(path, **query)
        assert query["kind"] == KINDS
        if "after" in query:
            return {"events": [one for one in self.events if one["seq_no"] > query["after"]], "next": None}
        return {"events": [one for one in self.events if one["seq_no"] < query["before"]][-query["limit"] :]}


async def test_every_page_of_the_feed_is_read_and_what_comes_later_is_shown() -> None:
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}
    talk = PagedFeed([connected(), snapshot(sessions=[session()])], answers)
    talk.events = list(talk.events)
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=(90, 24)) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.link == "live", "a connection")
        app.perform("tasks", "")
        await face.sees(f"Tasks  {PAGE + 499}")
        await face.sees("0/1499")
        talk.events.append(said(5000, "todo.done", "1"))
        await face.sees("1/1499")
        await face.press("enter")
        await face.sees("shop · run 1 · make the login work again")
        await face.press("f")
        await face.until(lambda: isinstance(app.screen, Bridge), "the bridge")
        await face.sees("Feed · shop")
