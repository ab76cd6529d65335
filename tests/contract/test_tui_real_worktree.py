"""A worktree at the terminal face with a real repository, a real daemon and an agent that is a script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from quarterdeck.surfaces.tui.dialogs.choices import OneWord
from quarterdeck.surfaces.tui.dialogs.manage.rules import SureDialog
from quarterdeck.surfaces.tui.dialogs.manage.start_session import Filter, StartDialog
from quarterdeck.surfaces.tui.main_screen import Bridge
from quarterdeck.surfaces.tui.screens.workspace.worktree import WorktreePage
from tests.contract.test_tui_steering import foot, shows
from tests.support.daemon import Daemon, Json
from tests.support.pilot import Face, face_of
from tests.support.repositories import commit, git, repository

pytestmark = pytest.mark.timeout(120)
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


async def started(face: Face, folder: Path) -> Json:
    """A session of a terminal of ours, in a worktree of its own, by the keys of the face."""
    await face.press("s")
    await shows(face, StartDialog)
    face.app.screen.query_one(Filter).value = str(folder)
    face.app.screen.query_one("#mode", OneWord).choose(2)
    face.app.screen.query_one("#worktree", OneWord).choose(1)
    await face.press("f2")
    await shows(face, Bridge)
    await face.hears("Started shop")
    await face.until(lambda: face.app.model.sessions, "a session")
    (session,) = face.app.model.sessions.values()
    return session


async def sure(face: Face, words: str, key: str) -> None:
    await shows(face, SureDialog)
    await face.sees(words)
    await face.press(key)


async def test_work_in_a_worktree_is_seen_merged_and_discarded_by_keys(daemon: Daemon, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    async with face_of(daemon.home, (160, 40)) as face:
        session = await started(face, shop)
        tree = Path(session["cwd"])
        await face.sees("W worktree")
        (tree / "b.txt").write_text("new\n")
        await face.press("W")
        await face.sees("b.txt  new, git was not told of it")
        await face.press("m")
        await face.hears("Not merged: something in the worktree is not committed")
        commit(tree)
        await face.press("ctrl+r")
        await face.sees("1 commit ahead")
        await face.press("minus")
        await face.hears("still runs; end it first")
        await face.press("m")
        await sure(face, "Merge 1 commit of", "y")
        await face.hears("Merged quarterdeck/")
        assert (shop / "b.txt").read_text() == "new\n"
        await face.sees("no commits ahead")
        await face.press("m")
        await face.hears("Not merged: main has all of it")
        await face.press("escape", "E")
        await sure(face, "End shop", "y")
        await face.until(lambda: "R resume" in foot(face), "its end")
        await face.orders("discard")
        await sure(face, "lost: main has all of it", "y")
        await face.hears("Discarded quarterdeck/")
        assert not tree.exists()
        assert git(shop, "branch", "--list", "quarterdeck/*") == ""
        await face.until(lambda: "W worktree" not in foot(face), "no worktree any more")


async def test_what_is_nowhere_else_is_named_and_goes_only_when_one_is_sure(daemon: Daemon, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    async with face_of(daemon.home, (160, 40)) as face:
        session = await started(face, shop)
        tree = Path(session["cwd"])
        (tree / "a.txt").write_text("theirs\n")
        commit(tree)
        (shop / "a.txt").write_text("mine\n")
        commit(shop)
        await face.orders("merge")
        await sure(face, "Merge 1 commit of", "y")
        await face.hears("both changed a.txt; merge them by hand")
        assert (shop / "a.txt").read_text() == "mine\n"
        await face.orders("end")
        await sure(face, "End shop", "y")
        await face.until(lambda: "R resume" in foot(face), "its end")
        (tree / "draft").write_text("half\n")
        await face.press("W")
        await shows(face, WorktreePage)
        await face.sees("-one")
        await face.press("minus")
        await sure(face, "1 commit that main has not", "n")
        await shows(face, WorktreePage)
        assert (tree / "draft").exists()
        await face.press("minus")
        await sure(face, "draft", "y")
        await shows(face, Bridge)
        assert not tree.exists()
