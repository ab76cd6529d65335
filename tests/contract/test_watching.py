"""Projects are watched: a change is seen within seconds, at no cost while nothing happens."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator
from pathlib import Path

from watchfiles import Change

from quarterdeck.core.workspace.projects import Project
from quarterdeck.projects.catalog import Projects
from quarterdeck.projects.watcher import Watcher
from tests.contract.test_projects import qd, serving
from tests.support.daemon import until
from tests.support.repositories import git, repository

SEEN_SECONDS = 20.0
"""Two seconds on a machine that has nothing else to do."""


async def sees(projects: Projects, check: Callable[[dict[str, Project]], bool]) -> None:
    async with asyncio.timeout(SEEN_SECONDS):
        while not check({Path(one.path).name: one for one in projects.all()}):
            await asyncio.sleep(0.02)


async def until_watched(projects: Projects, how: str = "live") -> None:
    async with asyncio.timeout(SEEN_SECONDS):
        while projects.progress.watch != how:
            await asyncio.sleep(0.02)


def test_a_daemon_sees_branches_new_projects_and_claude_folders_without_being_asked_to_look(tmp_path: Path) -> None:
    shop = repository(tmp_path / "code" / "shop")
    with serving(tmp_path) as daemon:

        def found() -> dict[str, dict[str, object]]:
            told = daemon.api("GET", "/projects")[1]
            return {one["name"]: one for one in told["projects"]}

        assert found()["shop"]["git_branch"] == "main"
        looked = daemon.api("GET", "/projects/scan")[1]["started_at"]
        until(lambda: daemon.api("GET", "/projects/scan")[1]["watch"] == "live", SEEN_SECONDS, what="the watch")
        git(shop, "checkout", "-q", "-b", "next")
        until(lambda: found()["shop"]["git_branch"] == "next", SEEN_SECONDS, what="the branch")
        (shop / ".claude").mkdir()
        until(lambda: found()["shop"]["has_claude_config"] is True, SEEN_SECONDS, what="the .claude folder")
        repository(tmp_path / "code" / "group" / "fresh", "trunk")
        until(lambda: found().get("fresh", {}).get("git_branch") == "trunk", SEEN_SECONDS, what="the new project")
        git(tmp_path / "code" / "group" / "fresh", "checkout", "-q", "-b", "later")
        until(lambda: found()["fresh"]["git_branch"] == "later", SEEN_SECONDS, what="a branch of the new project")
        assert daemon.api("GET", "/projects/scan")[1]["started_at"] == looked


async def test_a_project_that_is_removed_leaves_the_list(tmp_path: Path) -> None:
    repository(tmp_path / "shop")
    (tmp_path / "plain").mkdir()
    projects = Projects([str(tmp_path)], [".git"])
    await projects.scan(30)
    await until_watched(projects)
    (tmp_path / "plain").rmdir()
    await sees(projects, lambda found: set(found) == {"shop"})
    await projects.close()


async def test_where_the_kernel_watches_too_little_a_slow_look_finds_the_rest_and_it_says_so(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        repository(tmp_path / name)
    projects = Projects([str(tmp_path)], [".git"], watcher=Watcher(most=2, slow_seconds=0.5))
    await projects.scan(30)
    await until_watched(projects, "partly")
    assert "only 2 of 7 folders are watched" in projects.progress.notes[-1]
    git(tmp_path / "c", "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["c"].git and found["c"].git.branch == "next"))
    await projects.close()


def full(*folders: str, **how: object) -> Iterator[set[tuple[Change, str]]]:
    """What the kernel says when it has no watch left."""
    raise OSError(errno.ENOSPC, "OS file watch limit reached")


async def test_where_the_kernel_watches_nothing_a_slow_look_finds_it_and_it_says_so(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    projects = Projects([str(tmp_path)], [".git"], watcher=Watcher(slow_seconds=0.5, wait=full))
    await projects.scan(30)
    await until_watched(projects, "slow")
    assert "raise fs.inotify.max_user_watches" in projects.progress.notes[-1]
    git(shop, "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["shop"].git and found["shop"].git.branch == "next"))
    await projects.close()


async def test_looking_again_asks_git_only_where_it_did_something(tmp_path: Path) -> None:
    for name in ("a", "b"):
        repository(tmp_path / name)
    projects = Projects([str(tmp_path)], [".git"])
    await projects.scan(30)
    await until_watched(projects)
    before = {one.path: one.checked_at for one in projects.all()}
    git(tmp_path / "b", "checkout", "-q", "-b", "next")
    await sees(projects, lambda found: bool(found["b"].git and found["b"].git.branch == "next"))
    (tmp_path / "c").mkdir()
    await sees(projects, lambda found: "c" in found)
    after = {one.path: one.checked_at for one in projects.all()}
    assert after[str(tmp_path / "a")] == before[str(tmp_path / "a")]
    assert after[str(tmp_path / "b")] > before[str(tmp_path / "b")]
    await projects.close()


def test_doctor_says_how_changes_of_projects_are_seen(tmp_path: Path) -> None:
    repository(tmp_path / "code" / "shop")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.yaml").write_text("claude:\n  path: /bin/true\n")
    with serving(tmp_path) as daemon:
        assert "projects:" not in qd(daemon, "doctor").stdout
        assert qd(daemon, "projects").returncode == 0
        until(lambda: daemon.api("GET", "/projects/scan")[1]["watch"] == "live", SEEN_SECONDS, what="the watch")
        assert "projects: changes in them are seen as they happen" in qd(daemon, "doctor").stdout
