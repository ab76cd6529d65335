"""The projects page: each project with its sessions, and its actions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.workspace.projects import ProjectsPage
from tests.support.pilot import TuiPilot
from tests.support.recorded_daemon import (
    NOW,
    Json,
    RecordedDaemon,
    connected,
    project,
    project_list,
    session,
    snapshot,
)

SHOP = project(is_dirty=True, ahead=2, git_branch="feature/login", has_claude_config=True)
DOCS = project("docs", trusted=True, trust="full", prior_sessions=[{"session_id": "old", "title": "typos"}])
DOCS["prior_sessions"][0]["last_used_at"] = NOW - 120
PROJECT_CONFIG: Json = {
    "path": "/home/ann/shop",
    "trusted": False,
    "hooks": [],
    "servers": [],
    "variables": [],
    "allows": [],
}
PROJECT_CONFIG |= {"others": [], "troubles": []}


class ScanningDaemon(RecordedDaemon):
    """A daemon whose scan for projects runs until `is_done` is set."""

    def __init__(self, answers: dict[str, Json]) -> None:
        super().__init__([connected(), snapshot(sessions=[session(project_id="p_shop")])], answers)
        self.is_done = False

    async def get(self, path: str, /, **query: Any) -> Json:
        if path == "/projects/scan":
            return {"state": "done" if self.is_done else "running", "done": 3, "total": 40}
        return await super().get(path, **query)


@asynccontextmanager
async def page(answers: dict[str, Json] | None = None, size: tuple[int, int] = (110, 30)) -> AsyncGenerator[TuiPilot]:
    defaults = {
        "/sessions": {"sessions": [], "next": None},
        "/projects": project_list(SHOP, DOCS),
        "/projects/brings": PROJECT_CONFIG,
    }
    posts = ("POST /projects/trust", "POST /projects/untrust", "POST /projects/scan")
    scanning = ScanningDaemon(
        defaults | {path: {"state": "running", "done": 0, "total": 0} for path in posts} | (answers or {})
    )
    app = QuarterdeckApp(Path("/nowhere"), daemon=scanning, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        tui = TuiPilot(app, pilot)
        await tui.until(lambda: app.model.link == "live", "a connection")
        app.perform_command("projects", "")
        await tui.sees("feature/login*")
        yield tui


def daemon_of(tui: TuiPilot) -> ScanningDaemon:
    assert isinstance(tui.app.daemon, ScanningDaemon)
    return tui.app.daemon


async def test_a_scan_for_projects_shows_its_progress_and_x_stops_waiting() -> None:
    async with page() as tui:
        await tui.press("v")
        await tui.sees("looking … 3 of 40; x stops waiting")
        await tui.press("x")
        await tui.shows_message("The scan goes on in the background")
        await tui.until(lambda: "looking …" not in tui.text)
        await tui.press("v")
        await tui.sees("looking … 3 of 40")
        daemon_of(tui).is_done = True
        await tui.until(lambda: "looking …" not in tui.text)
        assert ("POST", "/projects/scan?wait=0&anew=true", {}) in daemon_of(tui).sent


async def test_a_project_is_trusted_after_its_config_was_shown_and_untrusted_after_a_confirmation() -> None:
    async with page() as tui:
        await tui.press("t")
        await tui.shows_screen(TrustDialog)
        dialog = tui.app.screen
        assert isinstance(dialog, TrustDialog)
        await tui.until(lambda: not dialog.blocked_reason(), "all of it seen")
        await tui.press("y")
        await tui.until(lambda: ("POST", "/projects/trust", {"path": "/home/ann/shop"}) in daemon_of(tui).sent)
        await tui.shows_screen(ProjectsPage)
        await tui.until(lambda: "untrust" not in tui.text.splitlines()[-1])
        await tui.press("down")
        await tui.until(lambda: "untrust" in tui.text.splitlines()[-1])
        await tui.press("minus")
        await tui.sees("Stop trusting /home/ann/docs?")
        await tui.press("y")
        await tui.until(lambda: ("POST", "/projects/untrust", {"path": "/home/ann/docs"}) in daemon_of(tui).sent)


async def test_a_session_is_started_in_the_project_under_the_cursor() -> None:
    async with page() as tui:
        await tui.press("s")
        await tui.shows_screen(StartDialog)
        await tui.press("escape")
        await tui.shows_screen(ProjectsPage)
        await tui.press("enter")
        await tui.sees("feature/login · changed · 2 ahead")
        await tui.press("f")
        await tui.shows_screen(MainScreen)
        await tui.sees("Feed · shop")


async def test_folders_left_out_of_a_scan_are_named() -> None:
    async with page({"/projects": project_list(SHOP, notes=["/home: more than 50,000 folders"])}) as tui:
        await tui.sees("! /home: more than 50,000 folders")
