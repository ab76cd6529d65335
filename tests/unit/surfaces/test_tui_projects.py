"""The projects of a machine: what the daemon knows of each beside its sessions, and what can be done about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from quarterdeck.surfaces.terminal.styled_text import fold, plain
from quarterdeck.surfaces.tui.app import QuarterdeckApp
from quarterdeck.surfaces.tui.dialogs.manage.start_session import StartDialog
from quarterdeck.surfaces.tui.dialogs.manage.trust import TrustDialog
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.screens.workspace.project_lines import place_lines, place_rows, places
from quarterdeck.surfaces.tui.screens.workspace.projects import ProjectsPage
from tests.support.pilot import Face
from tests.support.tui import NOW, Json, RecordedTalk, connected, ours, project, projects, session, snapshot

SPENT: Json = {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "cost_usd": 0.5}
SHOP = project(is_dirty=True, ahead=2, git_branch="feature/login", has_claude_config=True)
DOCS = project("docs", trusted=True, trust="full", prior_sessions=[{"session_id": "old", "title": "typos"}])
DOCS["prior_sessions"][0]["last_used_at"] = NOW - 120
BRINGS: Json = {"path": "/home/ann/shop", "trusted": False, "hooks": [], "servers": [], "variables": [], "allows": []}
BRINGS |= {"others": [], "troubles": []}


def cells_of(found: list[Json], sessions: list[Json]) -> dict[str, list[str]]:
    rows = place_rows(places(found, sessions), NOW)
    return {key: [cell if isinstance(cell, str) else cell[0] for cell in cells] for key, cells in rows}


def test_a_project_is_shown_with_its_branch_its_trust_its_sessions_and_their_cost() -> None:
    here = [session("a", project_id="p_shop", usage=SPENT), session("b", "ended", ended_at=NOW - 9, usage=SPENT)]
    here[1] |= {"project_id": "p_shop", "cwd": "/home/ann/shop"}
    rows = cells_of([DOCS, SHOP], here)
    assert list(rows) == ["/home/ann/shop", "/home/ann/docs"]
    assert rows["/home/ann/shop"][:7] == ["shop", "1", "· no", "feature/login* ↑2", "1/2", "$1.00", "12 s ago"]
    assert rows["/home/ann/docs"][:7] == ["docs", "", "✓ trusted", "main", "0/1", "", "2 m ago"]


def test_a_folder_that_the_daemon_knows_no_project_in_keeps_its_sessions() -> None:
    rows = cells_of([SHOP], [session(cwd="/gone", project_id="p_9", usage=SPENT)])
    assert rows["/gone"][0] == "gone"
    assert "$0.50" in rows["/gone"]
    assert rows["/home/ann/shop"][6] == "never"
    [gone, _] = places([SHOP], [session(cwd="/gone", project_id="p_9")])
    assert "knows no project here" in plain(fold(place_lines(gone, NOW), 100))
    assert gone.takes == {"start", "feed"}


def test_a_session_in_a_worktree_counts_to_the_project_that_it_was_made_from() -> None:
    tree = ours("a", cwd="/trees/shop-a", project_id="p_7", owned={"worktree": "/home/ann/shop"})
    assert list(cells_of([SHOP], [tree])) == ["/home/ann/shop"]


def test_the_details_of_a_project_tell_what_git_says_and_every_conversation() -> None:
    past = [{"session_id": f"o{n}", "title": f"talk {n}", "last_used_at": NOW - n} for n in range(12)]
    found = SHOP | {"prior_sessions": past, "git_trouble": "took too long", "git_remote": "git@host:shop"}
    [place] = places([found], [session(project_id="p_shop", pending=2)])
    shown = plain(fold(place_lines(place, NOW), 100))
    for words in ("not trusted", "feature/login · changed · 2 ahead", "git@host:shop", "took too long", "talk 0"):
        assert words in shown
    assert "◆ needs you · 2 waiting  make the login work again" in shown
    assert "and 4 more" in shown


@pytest.mark.parametrize(
    ("more", "takes"),
    [
        ({}, {"start", "trust"}),
        ({"trust": "rules"}, {"start", "trust", "untrust"}),
        ({"trust": "full", "trusted": True}, {"start", "untrust"}),
    ],
)
def test_a_project_offers_what_fits_its_trust(more: dict[str, Any], takes: set[str]) -> None:
    [place] = places([project(**more)], [])
    assert place.takes == takes


class LookedThrough(RecordedTalk):
    """A daemon whose look for projects takes until it is released."""

    def __init__(self, answers: dict[str, Json]) -> None:
        super().__init__([connected(), snapshot(sessions=[session(project_id="p_shop")])], answers)
        self.is_done = False

    async def get(self, path: str, /, **query: Any) -> Json:
        if path == "/projects/scan":
            return {"state": "done" if self.is_done else "running", "done": 3, "total": 40}
        return await super().get(path, **query)


@asynccontextmanager
async def page(answers: dict[str, Json] | None = None, size: tuple[int, int] = (110, 30)) -> AsyncGenerator[Face]:
    told = {"/sessions": {"sessions": [], "next": None}, "/projects": projects(SHOP, DOCS), "/projects/brings": BRINGS}
    orders = ("POST /projects/trust", "POST /projects/untrust", "POST /projects/scan")
    talk = LookedThrough(
        told | {order: {"state": "running", "done": 0, "total": 0} for order in orders} | (answers or {})
    )
    app = QuarterdeckApp(Path("/nowhere"), talk=talk, clock=lambda: NOW)
    async with app.run_test(size=size) as pilot:
        face = Face(app, pilot)
        await face.until(lambda: app.model.link == "live", "a connection")
        app.perform("projects", "")
        await face.sees("feature/login*")
        yield face


def talk_of(face: Face) -> LookedThrough:
    assert isinstance(face.app.talk, LookedThrough)
    return face.app.talk


async def test_a_look_for_projects_says_how_far_it_is_and_need_not_be_waited_for() -> None:
    async with page() as face:
        await face.press("v")
        await face.sees("looking … 3 of 40; x waits no longer")
        await face.press("x")
        await face.hears("the daemon goes on looking")
        await face.until(lambda: "looking …" not in face.text)
        await face.press("v")
        await face.sees("looking … 3 of 40")
        talk_of(face).is_done = True
        await face.until(lambda: "looking …" not in face.text)
        assert ("POST", "/projects/scan?wait=0&anew=true", {}) in talk_of(face).ordered


async def test_a_project_is_trusted_after_all_that_it_brings_was_shown_and_trusted_no_more_when_sure() -> None:
    async with page() as face:
        await face.press("t")
        await face.until(lambda: isinstance(face.app.screen, TrustDialog), "what it brings")
        await asyncio.sleep(0.5)
        await face.press("y")
        await face.until(lambda: ("POST", "/projects/trust", {"path": "/home/ann/shop"}) in talk_of(face).ordered)
        await face.until(lambda: isinstance(face.app.screen, ProjectsPage), "the projects")
        await face.until(lambda: "untrust" not in face.text.splitlines()[-1])
        await face.press("down")
        await face.until(lambda: "untrust" in face.text.splitlines()[-1])
        await face.press("minus")
        await face.sees("Trust /home/ann/docs no more?")
        await face.press("y")
        await face.until(lambda: ("POST", "/projects/untrust", {"path": "/home/ann/docs"}) in talk_of(face).ordered)


async def test_a_session_is_started_in_the_project_under_the_cursor() -> None:
    async with page() as face:
        await face.press("s")
        await face.until(lambda: isinstance(face.app.screen, StartDialog), "the dialog")
        await face.press("escape")
        await face.until(lambda: isinstance(face.app.screen, ProjectsPage), "the projects")
        await face.press("enter")
        await face.sees("feature/login · changed · 2 ahead")
        await face.press("f")
        await face.until(lambda: isinstance(face.app.screen, Bridge), "the bridge")
        await face.sees("Feed · shop")


async def test_what_the_look_left_out_is_told() -> None:
    async with page({"/projects": projects(SHOP, notes=["/home: more than 50,000 folders"])}) as face:
        await face.sees("! /home: more than 50,000 folders")
