"""The to-dos of every run, folded from the feed and shown on a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quarterdeck.surfaces.terminal.lines.task_lines import KINDS
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.tasks import PAGE
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import NOW, Json, RecordedDaemon, connected, event, session, snapshot


def todo_event(seq_no: int, kind: str, todo_id: str, run: int = 1, session_id: str = "s1", **data: Any) -> Json:
    """An event about a to-do, in a run."""
    return event(seq_no, kind, "", session_id, todo_id=todo_id, **data) | {"run_id": f"{session_id}:R{run}"}


class PagedFeed(RecordedDaemon):
    """A daemon whose feed is longer than a page."""

    events = [todo_event(n, "todo.add", str(n), text=f"task {n}") for n in range(1, PAGE + 500)]

    async def get(self, path: str, /, **query: Any) -> Json:
        if path != "/feed":
            return await super().get(path, **query)
        assert query["kind"] == KINDS
        if "after" in query:
            return {"events": [one for one in self.events if one["seq_no"] > query["after"]], "next": None}
        return {"events": [one for one in self.events if one["seq_no"] < query["before"]][-query["limit"] :]}


async def test_every_page_of_the_feed_is_read_and_later_events_are_shown() -> None:
    answers: dict[str, Json] = {"/sessions": {"sessions": [], "next": None}}
    daemon = PagedFeed([connected(), snapshot(sessions=[session()])], answers)
    daemon.events = list(daemon.events)
    app = QuarterdeckApp(Path("/nowhere"), daemon=daemon, clock=lambda: NOW)
    async with app.run_test(size=(90, 24)) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        app.perform_command("tasks", "")
        await tui.sees(f"Tasks  {PAGE + 499}")
        await tui.sees("0/1499")
        daemon.events.append(todo_event(5000, "todo.done", "1"))
        await tui.sees("1/1499")
        await tui.press("enter")
        await tui.sees("shop · run 1 · make the login work again")
        await tui.press("f")
        await tui.until(lambda: isinstance(app.screen, MainScreen), "the main screen")
        await tui.sees("Feed · shop")
