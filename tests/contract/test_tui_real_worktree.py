"""A worktree in the terminal UI, with a real repository, a real daemon and a script as the agent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Static

from quarterdeck.surfaces.tui.dialogs.choices import WordChoice
from quarterdeck.surfaces.tui.dialogs.manage.rules import ConfirmDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import ProjectFilter, StartDialog
from quarterdeck.surfaces.tui.main_screen import MainScreen
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from quarterdeck.views.resources.session_view import SessionView
from tests.contract.test_tui_session_commands import footer
from tests.support.daemon import Daemon
from tests.support.pilot import TuiPilot, run_tui
from tests.support.repositories import commit, git, repository

AGENT = '#!/bin/sh\nif [ "$1" = --version ]; then echo 2.1.325; exit 0; fi\nexec sleep 1000\n'


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that trusts one repository, and whose agent does nothing."""
    claude = tmp_path / "claude-script"
    claude.write_text(AGENT)
    claude.chmod(0o755)
    shop = repository(tmp_path / "shop")
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ann\n\temail = ann@example.org\n")
    env = {"HOME": str(tmp_path), "QUARTERDECK_CLAUDE_PATH": str(claude)}
    with Daemon(tmp_path / "qd", env=env) as running:
        assert running.api("POST", "/projects/trust", {"path": str(shop)})[0] == 200
        yield running


async def start_session(tui: TuiPilot, folder: Path) -> SessionView:
    """Start an owned terminal session in its own worktree, by keys."""
    await tui.press("s")
    await tui.shows_screen(StartDialog)
    tui.app.screen.query_one(ProjectFilter).value = str(folder)
    tui.app.screen.query_one("#mode", WordChoice).choose(2)
    tui.app.screen.query_one("#worktree", WordChoice).choose(1)
    await tui.press("f2")
    await tui.shows_screen(MainScreen)
    await tui.shows_message("Started shop")
    await tui.until(lambda: tui.app.model.sessions, "a session")
    (session,) = tui.app.model.sessions.values()
    return session


async def answer_question(tui: TuiPilot, words: str, key: str) -> None:
    """Answer a question that has these words, wherever its lines break: it names folders of any length."""
    await tui.shows_screen(ConfirmDialog)
    question = tui.app.screen.query_one(".says", Static)
    await tui.until(lambda: words in str(question.content), f"“{words}” in the question")
    await tui.press(key)


async def test_work_in_a_worktree_is_viewed_merged_and_discarded_by_keys(daemon: Daemon, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    async with run_tui(daemon.home, (160, 40)) as tui:
        session = await start_session(tui, shop)
        tree = Path(session.cwd)
        await tui.sees("W worktree")
        (tree / "b.txt").write_text("new\n")
        await tui.press("W")
        await tui.sees("b.txt  untracked")
        await tui.press("m")
        await tui.shows_message("Not merged: the worktree has uncommitted changes")
        commit(tree)
        await tui.press("ctrl+r")
        await tui.sees("1 commit ahead")
        await tui.press("minus")
        await tui.shows_message("still runs; end it first")
        await tui.press("m")
        await answer_question(tui, "Merge 1 commit of", "y")
        await tui.shows_message("Merged quarterdeck/")
        assert (shop / "b.txt").read_text() == "new\n"
        await tui.sees("no commits ahead")
        await tui.press("m")
        await tui.shows_message("Not merged: main already has all of it")
        await tui.press("escape", "E")
        await answer_question(tui, "End shop", "y")
        await tui.until(lambda: "R resume" in footer(tui), "its end")
        await tui.runs_command("discard")
        await answer_question(tui, "lost: main has all of it", "y")
        await tui.shows_message("Discarded quarterdeck/")
        assert not tree.exists()
        assert git(shop, "branch", "--list", "quarterdeck/*") == ""
        await tui.until(lambda: "W worktree" not in footer(tui), "no worktree any more")


async def test_work_that_exists_nowhere_else_is_named_and_discarded_only_after_a_yes(
    daemon: Daemon, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    async with run_tui(daemon.home, (160, 40)) as tui:
        session = await start_session(tui, shop)
        tree = Path(session.cwd)
        (tree / "a.txt").write_text("theirs\n")
        commit(tree)
        (shop / "a.txt").write_text("mine\n")
        commit(shop)
        await tui.runs_command("merge")
        await answer_question(tui, "Merge 1 commit of", "y")
        await tui.shows_message("both changed a.txt; merge them by hand")
        assert (shop / "a.txt").read_text() == "mine\n"
        await tui.runs_command("end")
        await answer_question(tui, "End shop", "y")
        await tui.until(lambda: "R resume" in footer(tui), "its end")
        (tree / "draft").write_text("half\n")
        await tui.press("W")
        await tui.shows_screen(WorktreePage)
        await tui.sees("-one")
        await tui.press("minus")
        await answer_question(tui, "1 commit that main does not have", "n")
        await tui.shows_screen(WorktreePage)
        assert (tree / "draft").exists()
        await tui.press("minus")
        await answer_question(tui, "draft", "y")
        await tui.shows_screen(MainScreen)
        assert not tree.exists()
